#include "solver/krylov/table/solver_table.hpp"

#include "halo/watch/error.hpp"
#include "solver/krylov/block_conjugate_gradient.hpp"
#include "solver/krylov/conjugate_gradient.hpp"
#include "solver/krylov/cublas_conjugate_gradient.hpp"
#include "solver/krylov/preconditioned/flexible_cg.hpp"
#include "solver/krylov/reliable_updates.hpp"

namespace staghorn {

namespace {

std::unique_ptr<KrylovSolver> make_flexible(const SolverParts& parts) {
  const auto [entry, n] = preconditioner_of(parts.preconditioner);
  return std::make_unique<FlexibleCg>(parts.d, entry->make(parts.d, parts.sloppy, n));
}

double flexible_bytes(const OperatorBytes& precise, const OperatorBytes&) {
  return FlexibleCg::vectors * precise.vector;
}

constexpr SolverEntry table[] = {
    {"cg",
     SolverNeeds::nothing,
     {.shift = true, .refill = true, .resume = true},
     [](const SolverParts& parts) -> std::unique_ptr<KrylovSolver> {
       return std::make_unique<ConjugateGradient>(parts.d);
     },
     [](const OperatorBytes& precise, const OperatorBytes&) { return 3 * precise.vector; }},
    {"mixed",
     SolverNeeds::sloppy,
     {.deflate = true, .shift = true, .refill = true, .resume = true},
     [](const SolverParts& parts) -> std::unique_ptr<KrylovSolver> {
       return std::make_unique<MixedPrecisionCg>(parts.d, *parts.sloppy);
     },
     [](const OperatorBytes& precise, const OperatorBytes& sloppy) {
       return 2 * precise.vector + 3 * sloppy.vector + sloppy.solution;
     }},
    {"block",
     SolverNeeds::nothing,
     {.resume = true, .sum_in_hops = false},
     [](const SolverParts& parts) { return make_block_solver(parts.d, nullptr); },
     [](const OperatorBytes& precise, const OperatorBytes&) { return predicted_block_bytes(precise, nullptr); }},
    {"block",
     SolverNeeds::sloppy,
     {.resume = true, .sum_in_hops = false},
     [](const SolverParts& parts) { return make_block_solver(parts.d, parts.sloppy); },
     [](const OperatorBytes& precise, const OperatorBytes& sloppy) { return predicted_block_bytes(precise, &sloppy); }},
    {"flexible", SolverNeeds::nothing, {.precondition = true, .resume = true}, make_flexible, flexible_bytes},
    {"flexible", SolverNeeds::sloppy, {.precondition = true, .resume = true}, make_flexible, flexible_bytes},
    {"cublas",
     SolverNeeds::cublas,
     {.shift = true},
     [](const SolverParts& parts) { return make_cublas_solver(*parts.cublas, parts.d); },
     [](const OperatorBytes& precise, const OperatorBytes&) { return cublas_vectors * precise.vector; }},
};

}  // namespace

const SolverEntry& solver_for(const SessionOptions& options) {
  const SolverNeeds parts = options.sloppy                 ? SolverNeeds::sloppy
                            : options.blas == Blas::cublas ? SolverNeeds::cublas
                                                           : SolverNeeds::nothing;
  if (options.is_preconditioned()) preconditioner_of(options.preconditioner);
  std::string names = "auto";
  for (const SolverEntry& entry : table) {
    if (entry.needs != parts || entry.can.precondition != options.is_preconditioned()) continue;
    if (options.solver == "auto" || options.solver == entry.name) return entry;
    names += std::string(", ") + entry.name;
  }
  throw Error("solver", names + " (with these options sloppy, blas and preconditioner)", "'" + options.solver + "'");
}

double predicted_solver_bytes(const SessionOptions& options, const OperatorBytes& precise,
                              const OperatorBytes& sloppy) {
  double bytes = solver_for(options).predicted_bytes(precise, sloppy);
  if (options.is_preconditioned())
    bytes +=
        preconditioner_of(options.preconditioner).entry->predicted_bytes(precise, options.sloppy ? &sloppy : nullptr);
  return bytes;
}

}  // namespace staghorn
