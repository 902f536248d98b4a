#include "solver/krylov/table/solver_table.hpp"

#include "halo/watch/error.hpp"
#include "solver/krylov/block_conjugate_gradient.hpp"
#include "solver/krylov/coarse/coarse_deflation.hpp"
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

constexpr int smoothing = 4;  // products with A in each pass of the smoother of multigrid

std::unique_ptr<KrylovSolver> make_multigrid(const SolverParts& parts) {
  return std::make_unique<FlexibleCg>(parts.d, std::make_unique<CoarseCorrection>(parts.d, parts.sloppy, *parts.blocks,
                                                                                  smoothing, parts.coarse_tolerance));
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
     {.deflate = true, .shift = true, .refill = true, .resume = true, .half = true},
     [](const SolverParts& parts) -> std::unique_ptr<KrylovSolver> {
       return std::make_unique<MixedPrecisionCg>(parts.d, *parts.sloppy);
     },
     [](const OperatorBytes& precise, const OperatorBytes& sloppy) {
       return 2 * precise.vector + 3 * sloppy.vector + sloppy.solution;
     }},
    {"block",
     SolverNeeds::nothing,
     {.resume = true},
     [](const SolverParts& parts) { return make_block_solver(parts.d, nullptr); },
     [](const OperatorBytes& precise, const OperatorBytes&) { return predicted_block_bytes(precise, nullptr); }},
    {"block",
     SolverNeeds::sloppy,
     {.resume = true},
     [](const SolverParts& parts) { return make_block_solver(parts.d, parts.sloppy); },
     [](const OperatorBytes& precise, const OperatorBytes& sloppy) { return predicted_block_bytes(precise, &sloppy); }},
    {"flexible", SolverNeeds::nothing, {.precondition = true, .resume = true}, make_flexible, flexible_bytes},
    {"flexible", SolverNeeds::sloppy, {.precondition = true, .resume = true}, make_flexible, flexible_bytes},
    {"multigrid",
     SolverNeeds::nothing,
     {.blocks = true, .resume = true},
     make_multigrid,
     [](const OperatorBytes& precise, const OperatorBytes& sloppy) {
       return flexible_bytes(precise, sloppy) + CoarseCorrection::predicted_bytes(precise, nullptr, smoothing);
     }},
    {"multigrid",
     SolverNeeds::sloppy,
     {.blocks = true, .resume = true},
     make_multigrid,
     [](const OperatorBytes& precise, const OperatorBytes& sloppy) {
       return flexible_bytes(precise, sloppy) + CoarseCorrection::predicted_bytes(precise, &sloppy, smoothing);
     }},
    {"deflated",
     SolverNeeds::nothing,
     {.blocks = true},
     [](const SolverParts& parts) -> std::unique_ptr<KrylovSolver> {
       return std::make_unique<CoarseDeflatedCg>(parts.d, *parts.blocks, parts.coarse_tolerance);
     },
     [](const OperatorBytes& precise, const OperatorBytes&) {
       return (FlexibleCg::vectors + CoarseDeflatedCg::vectors) * precise.vector +
              CoarseCorrection::predicted_bytes(precise, nullptr, 0);
     }},
    {"cublas",
     SolverNeeds::cublas,
     {.shift = true},
     [](const SolverParts& parts) { return make_cublas_solver(*parts.cublas, parts.d); },
     [](const OperatorBytes& precise, const OperatorBytes&) { return cublas_vectors * precise.vector; }},
};

// Whether a solve of one mass is no slower in fp16 than in fp32. The rule knows no device, so that a CPU has the bits
// of a GPU. On a CPU whose memory is not the limit an iteration of improved quarks takes 3 to 15 % less, of naive ones
// a quarter more. Lattices of a million sites are solved where memory is the limit: there both take a third less, and
// pay for the iterations that fp16 takes more, 11 to 48 % at mass 0.002 (decision 035).
bool half_is_fast(double mass, bool improved, std::int64_t sites) {
  if (sites >= 1'000'000) return mass >= 0.002;
  return improved && sites >= 100'000 && mass >= 0.005;
}

// nullptr: there is none. `names` gets those there are.
const SolverEntry* find_solver(const SolveNumbers& asked, SolverNeeds parts, std::string& names) {
  names = "auto";
  for (const SolverEntry& entry : table) {
    if (entry.needs != parts || entry.can.precondition != asked.is_preconditioned()) continue;
    if (entry.can.blocks && !asked.blocks) continue;
    if (asked.solver == "auto" && asked.blocks && !entry.can.blocks) continue;
    if (asked.solver == "auto" || asked.solver == entry.name) return &entry;
    names += std::string(", ") + entry.name;
  }
  return nullptr;
}

}  // namespace

SolveNumbers chosen_numbers(SolveNumbers asked, const SessionOptions& gauge, const SolveRequest& request,
                            std::int64_t sites) {
  if (!asked.sloppy_auto) return asked;
  asked.sloppy.reset();
  std::string names;
  const SolverEntry* const solver = find_solver(asked, SolverNeeds::sloppy, names);
  if (!solver || asked.precision != Precision::fp64 || gauge.blas == Blas::cublas) return asked;
  const bool one_mass = request.masses.empty() && !request.rational;
  const bool half = solver->can.half && one_mass && half_is_fast(request.mass, gauge.quarks.improved(), sites);
  asked.sloppy = half ? Precision::fp16 : Precision::fp32;
  return asked;
}

const SolverEntry& solver_for(const SessionOptions& options) {
  const SolverNeeds parts = options.sloppy                 ? SolverNeeds::sloppy
                            : options.blas == Blas::cublas ? SolverNeeds::cublas
                                                           : SolverNeeds::nothing;
  if (options.is_preconditioned()) preconditioner_of(options.preconditioner);
  std::string names;
  if (const SolverEntry* const found = find_solver(options, parts, names)) return *found;
  throw Error("solver", names + " (with these options sloppy, blas, preconditioner and coarse)",
              "'" + options.solver + "'");
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
