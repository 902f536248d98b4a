#include "solver/krylov/solver_table.hpp"

#include "halo/watch/error.hpp"
#include "solver/krylov/conjugate_gradient.hpp"
#include "solver/krylov/cublas_conjugate_gradient.hpp"
#include "solver/krylov/reliable_updates.hpp"

namespace staghorn {

namespace {

constexpr SolverEntry table[] = {
    {"cg",  //
     [](const SolverParts& parts) -> std::unique_ptr<KrylovSolver> {
       return std::make_unique<ConjugateGradient>(parts.d);
     },
     [](const OperatorBytes& precise, const OperatorBytes&) { return 3 * precise.vector; }},
    {"mixed",
     [](const SolverParts& parts) -> std::unique_ptr<KrylovSolver> {
       return std::make_unique<MixedPrecisionCg>(parts.d, *parts.sloppy);
     },
     [](const OperatorBytes& precise, const OperatorBytes& sloppy) {
       return 2 * precise.vector + 3 * sloppy.vector + sloppy.solution;
     }},
    {"cublas", [](const SolverParts& parts) { return make_cublas_solver(*parts.cublas, parts.d); },
     [](const OperatorBytes& precise, const OperatorBytes&) { return cublas_vectors * precise.vector; }},
};

const SolverEntry& find_solver(const std::string& name) {
  std::string names;
  for (const SolverEntry& entry : table) {
    if (name == entry.name) return entry;
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw Error("solver", names, name);
}

}  // namespace

std::span<const SolverEntry> solver_table() { return table; }

const SolverEntry& solver_for(const SessionOptions& options) {
  return find_solver(options.sloppy ? "mixed" : options.blas == Blas::cublas ? "cublas" : "cg");
}

}  // namespace staghorn
