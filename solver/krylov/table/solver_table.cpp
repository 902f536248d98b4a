#include "solver/krylov/table/solver_table.hpp"

#include "halo/watch/error.hpp"
#include "solver/krylov/block_conjugate_gradient.hpp"
#include "solver/krylov/conjugate_gradient.hpp"
#include "solver/krylov/cublas_conjugate_gradient.hpp"
#include "solver/krylov/reliable_updates.hpp"

namespace staghorn {

namespace {

constexpr SolverEntry table[] = {
    {"cg", SolverNeeds::nothing, false,
     [](const SolverParts& parts) -> std::unique_ptr<KrylovSolver> {
       return std::make_unique<ConjugateGradient>(parts.d);
     },
     [](const OperatorBytes& precise, const OperatorBytes&) { return 3 * precise.vector; }},
    {"mixed", SolverNeeds::sloppy, true,
     [](const SolverParts& parts) -> std::unique_ptr<KrylovSolver> {
       return std::make_unique<MixedPrecisionCg>(parts.d, *parts.sloppy);
     },
     [](const OperatorBytes& precise, const OperatorBytes& sloppy) {
       return 2 * precise.vector + 3 * sloppy.vector + sloppy.solution;
     }},
    {"block", SolverNeeds::nothing, false, [](const SolverParts& parts) { return make_block_solver(parts.d, nullptr); },
     [](const OperatorBytes& precise, const OperatorBytes&) { return predicted_block_bytes(precise, nullptr); }},
    {"block", SolverNeeds::sloppy, false,
     [](const SolverParts& parts) { return make_block_solver(parts.d, parts.sloppy); },
     [](const OperatorBytes& precise, const OperatorBytes& sloppy) { return predicted_block_bytes(precise, &sloppy); }},
    {"cublas", SolverNeeds::cublas, false,
     [](const SolverParts& parts) { return make_cublas_solver(*parts.cublas, parts.d); },
     [](const OperatorBytes& precise, const OperatorBytes&) { return cublas_vectors * precise.vector; }},
};

}  // namespace

const SolverEntry& solver_for(const SessionOptions& options) {
  const SolverNeeds parts = options.sloppy                 ? SolverNeeds::sloppy
                            : options.blas == Blas::cublas ? SolverNeeds::cublas
                                                           : SolverNeeds::nothing;
  std::string names = "auto";
  for (const SolverEntry& entry : table) {
    if (entry.needs != parts) continue;
    if (options.solver == "auto" || options.solver == entry.name) return entry;
    names += std::string(", ") + entry.name;
  }
  throw Error("solver", names + " (with these options sloppy and blas)", "'" + options.solver + "'");
}

}  // namespace staghorn
