// A preconditioner of A x = b, and the preconditioners there are: one line each. A new one is a file of its own and a
// line in preconditioner_table.cpp (docs/development/how-to-add-a-solver.md#a-preconditioner).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "dirac/operators/operator_memory.hpp"
#include "solver/krylov/krylov_solver.hpp"

namespace staghorn {

class Preconditioner {
 public:
  virtual ~Preconditioner() = default;

  // z = P r for each right-hand side, where P is near the inverse of A, Hermitian and positive. It may change a little
  // from call to call. z and r have the precision of the operator of `system`. Collective.
  virtual void apply(const ParitySystem& system, ColorVectorField& z, const ColorVectorField& r) = 0;

  // Of its vectors; this rank. PreconditionerEntry::predicted_bytes says the same before anything is made.
  virtual std::int64_t bytes() const = 0;
};

struct PreconditionerEntry {
  const char* name;
  const char* number;  // what the N of "name:N" says, for messages
  int least, most;     // of N
  // For d.n_rhs() right-hand sides. `sloppy`, which may be null, is the operator in low precision, where it is to work.
  // Both must outlive the preconditioner. Local.
  std::unique_ptr<Preconditioner> (*make)(StaggeredOperator& d, StaggeredOperator* sloppy, int n);
  double (*predicted_bytes)(const OperatorBytes& precise, const OperatorBytes* sloppy);
};

// A line of the table, and the N that it is asked for with.
struct PreconditionerChoice {
  const PreconditionerEntry* entry;
  int n;
};

// Of a text such as "chebyshev:8". Throws Error naming the choices.
PreconditionerChoice preconditioner_of(const std::string& text);

}  // namespace staghorn
