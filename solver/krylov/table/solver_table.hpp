// The Krylov solvers there are: one line each. A new solver is a file of its own and a line in solver_table.cpp
// (docs/development/how-to-add-a-solver.md).
#pragma once

#include <memory>
#include <string>

#include "dirac/operators/operator_memory.hpp"
#include "solver/krylov/krylov_solver.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

class CoarseSpace;
class Cublas;

// What a solver is made of. All of it must outlive the solver.
struct SolverParts {
  StaggeredOperator& d;                 // in the precision of the answer
  StaggeredOperator* sloppy = nullptr;  // in lower precision, if the request has mixed precision
  const Cublas* cublas = nullptr;       // the library, if the request has it
  std::string preconditioner{};         // SessionOptions::preconditioner
  CoarseSpace* blocks = nullptr;        // if there is a basis of blocks
  double coarse_tolerance = 0;          // SessionOptions::coarse_tolerance
};

enum class SolverNeeds { nothing, sloppy, cublas };

struct SolverEntry {
  const char* name;
  SolverNeeds needs;  // which of the parts, besides d
  struct Can {
    bool precondition = false;  // it needs a preconditioner; others take none
    bool blocks = false;        // it needs a basis of blocks; where there is one, auto takes such a solver
    bool deflate = false;       // takes eigenvectors out of its residual itself; else deflated_solver.hpp does
    bool shift = false;         // several masses: multi-shift CG stands for it
    bool refill = false;        // sources take turns in its batch (tile/tile_solver.hpp)
    bool resume = false;        // it can be left and taken up again
    bool half = false;          // iterations in 16 bits are as good as in fp32 where the lattice is large
  } can;
  // Makes the solver and its vectors, for d.n_rhs() right-hand sides. Local.
  std::unique_ptr<KrylovSolver> (*make)(const SolverParts& parts);
  // KrylovSolver::bytes() before anything is made, but for a preconditioner; from the bytes of the operators' vectors.
  double (*predicted_bytes)(const OperatorBytes& precise, const OperatorBytes& sloppy);
};

// The solver that a session takes. Its options `sloppy`, `blas` and `preconditioner` say which parts there are; the
// solver needs just these. `solver` names one of those solvers; auto takes the first in the table. Throws Error naming
// the choices.
const SolverEntry& solver_for(const SessionOptions& options);
// With asked.sloppy_auto the precision of the iterations for this request and the quarks of `gauge`, on a lattice of so
// many sites in all; else what was asked. It depends on nothing that differs between machines, so that an answer has
// the same bits on all of them. Without a request: what memory is foreseen for.
SolveNumbers chosen_numbers(SolveNumbers asked, const SessionOptions& gauge, const SolveRequest& request = {},
                            std::int64_t sites = 0);
// Of all its vectors, those of a preconditioner included.
double predicted_solver_bytes(const SessionOptions& options, const OperatorBytes& precise, const OperatorBytes& sloppy);

}  // namespace staghorn
