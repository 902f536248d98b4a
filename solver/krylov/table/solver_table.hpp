// The Krylov solvers there are: one line each. A new solver is a file of its own and a line in solver_table.cpp
// (docs/development/how-to-add-a-solver.md).
#pragma once

#include <memory>

#include "dirac/operators/operator_memory.hpp"
#include "solver/krylov/krylov_solver.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

class Cublas;

// What a solver is made of. All of it must outlive the solver.
struct SolverParts {
  StaggeredOperator& d;                 // in the precision of the answer
  StaggeredOperator* sloppy = nullptr;  // in lower precision, if the request has mixed precision
  const Cublas* cublas = nullptr;       // the library, if the request has it
};

enum class SolverNeeds { nothing, sloppy, cublas };

struct SolverEntry {
  const char* name;
  SolverNeeds needs;  // which of the parts, besides d
  bool deflates;      // takes eigenvectors out of its residual itself; else deflated_solver.hpp does
  // Makes the solver and its vectors, for d.n_rhs() right-hand sides. Local.
  std::unique_ptr<KrylovSolver> (*make)(const SolverParts& parts);
  // KrylovSolver::bytes() before anything is made, from the bytes of the operators' vectors.
  double (*predicted_bytes)(const OperatorBytes& precise, const OperatorBytes& sloppy);
};

// The solver that a session takes. Its options `sloppy` and `blas` say which parts there are; the solver needs just
// these. `solver` names one of those solvers; auto takes the first in the table. Throws Error naming the choices.
const SolverEntry& solver_for(const SessionOptions& options);

}  // namespace staghorn
