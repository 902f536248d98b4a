// solve_masses: one multi-shift pass for all masses, then for each mass the passes of a certified solve, which
// certify what is there and polish what is not good enough. Where projections onto eigenvectors damp, their rounding
// leaves each mass a residual of its own, at small masses as large as the source. There each mass is solved from zero,
// and in a basis of blocks too, which serves all masses.
//
// With mixed precision the multi-shift pass goes on in fp32, sooner or later, as that pays. Its residuals are parallel
// only if nothing corrects them. So where that was soon, each mass leaves where rounding allows no more, and is
// polished from there.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "dirac/fields/plain_algebra.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/stopwatch.hpp"
#include "solver/krylov/aims.hpp"
#include "solver/krylov/deflated_solver.hpp"
#include "solver/krylov/shifts/shifted_pass.hpp"
#include "solver/krylov/shifts/shifted_precision.hpp"
#include "solver/krylov/table/solver_table.hpp"
#include "solver/machine/memory_check.hpp"
#include "solver/machine/memory_estimate.hpp"
#include "solver/request/operator_request.hpp"
#include "solver/request/solve_checks.hpp"
#include "solver/session/job/filled_report.hpp"
#include "solver/session/job/run_job.hpp"

namespace staghorn {

namespace {

// x = 0 on the sites of the system.
void clear_solutions(System system, std::span<VectorField> solutions) {
  for (VectorField& x : solutions)
    for (const Parity parity : {Parity::even, Parity::odd})
      if (system == System::full || (system == System::odd) == (parity == Parity::odd)) clear_parity(x, parity);
}

std::size_t smallest_mass(const SolveRequest& request) {
  return std::size_t(std::min_element(request.masses.begin(), request.masses.end()) - request.masses.begin());
}

// What each mass asks of the multi-shift pass. `tolerance` is the one in force.
ShiftedPassStop pass_stop(const SolveRequest& request, double tolerance, const bool* interrupted) {
  ShiftedPassStop stop{{}, most_iterations(request), interrupted};
  for (std::size_t k = 0; k < request.masses.size(); ++k) {
    double wanted = request.tolerances.empty() ? tolerance : request.tolerances[k];
    if (wanted == 0 && k == smallest_mass(request)) wanted = tolerance;
    stop.tolerance.push_back(aim_of_pass * wanted);
  }
  return stop;
}

// No pass gets below this tolerance: rounded vectors leave their part of the residual in it, where nothing takes it
// out. Polishing does.
double reached_with(const Deflation* deflation, Precision precision) {
  return deflation && deflation->precision() != precision ? DeflatedSolver::drop : 0;
}

// The solve of one mass, after what multi-shift did.
SolveRequest request_of_mass(const SolveRequest& request, std::size_t k, std::span<const SolvedRhs> shifts) {
  SolveRequest of_mass = request;
  of_mass.masses.clear();
  of_mass.tolerances.clear();
  of_mass.mass = request.masses[k];
  if (!request.tolerances.empty() && request.tolerances[k] > 0) of_mass.tolerance = request.tolerances[k];
  if (request.max_iterations)
    for (const SolvedRhs& shift : shifts)
      of_mass.max_iterations = std::min(*of_mass.max_iterations, *request.max_iterations - shift.iterations);
  return of_mass;
}

// Where a solve of several masses is, for a checkpoint.
struct MassesSoFar {
  ShiftedPassResult found;    // of the multi-shift pass
  CertifiedSolve whole;       // of the masses that are done
  bool in_polishing = false;  // the pass is over

  void visit(const Archive& archive, std::size_t n_masses, std::size_t n_rhs) {
    archive("in_polishing", in_polishing);
    if (!in_polishing) return;
    found.mass.resize(n_masses);
    for (std::size_t k = 0; k < n_masses; ++k) archive("mass_" + std::to_string(k), found.mass[k], n_rhs);
    archive("iterations", found.iterations);
    archive("sloppy_iterations", found.sloppy_iterations);
    archive("form", found.form);
    archive("precision", found.precision);
    archive("rhs", whole.rhs);
    archive("cg_iterations", whole.cg_iterations);
    archive("precise_loop", whole.precise_loop);
  }
};

void append(CertifiedSolve& whole, CertifiedSolve&& of_mass) {
  std::move(of_mass.rhs.begin(), of_mass.rhs.end(), std::back_inserter(whole.rhs));
  whole.cg_iterations += of_mass.cg_iterations;
  whole.cg_seconds += of_mass.cg_seconds;
  whole.certify_seconds += of_mass.certify_seconds;
  whole.convert_seconds += of_mass.convert_seconds;
  if (whole.loop.empty()) whole.loop = of_mass.loop;
  if (!of_mass.precise_loop.empty()) whole.precise_loop = of_mass.precise_loop;
}

// The passes of every mass after multi-shift that is not done yet, added to so_far.whole.
void polish_masses(const CertifiedWork& with, const BatchWork& work, MassesSoFar& so_far) {
  const SolveRequest& request = work.request;
  const auto& found = so_far.found;
  const std::size_t n_rhs = work.sources.size();
  for (std::size_t k = so_far.whole.rhs.size() / n_rhs; k < request.masses.size(); ++k) {
    CertifiedSolve of_mass = certified_solve(with, request_of_mass(request, k, found.mass[k]), work.sources, work.b2,
                                             work.solutions.subspan(k * n_rhs, n_rhs), work.progress, found.mass[k]);
    for (RhsReport& rhs : of_mass.rhs) rhs.mass = request.masses[k];
    append(so_far.whole, std::move(of_mass));
  }
}

// The operator and the vectors of the multi-shift pass.
struct ShiftedBatch {
  SolveShape shape;
  std::optional<StaggeredOperator> precise, sloppy;  // where the batch is not that of the sources
  std::optional<ShiftedPass> pass;                   // none where all sources are zero, and mass by mass
  std::int64_t bytes() const {
    std::int64_t bytes = pass ? pass->bytes() : 0;
    for (const auto* own : {&precise, &sloppy})
      if (*own) bytes += (*own)->halo_bytes();
    return bytes;
  }
};

// Throws Error where the multi-shift pass does not fit beside what is there.
void make_shifted_batch(ShiftedBatch& batch, Gauge& gauge, const SolveRequest& request,
                        std::span<const VectorField> sources, MemorySpace certificate) {
  const Context& context = gauge.context();
  const Communicator& all = context.communicator();
  const SessionOptions& numbers = gauge.options();
  Workbench& bench = gauge.bench();
  const int n_rhs = int(sources.size()), n_masses = int(request.masses.size());
  const Deflation* const low = gauge.eigenpairs().deflation(request);
  const bool mass_by_mass =
      solver_for(numbers).can.blocks || (low && low->damps(request.system == System::odd ? Parity::odd : Parity::even));
  std::vector<ShiftedColumn> columns;  // none mass by mass
  if (!mass_by_mass) columns = shifted_columns(all, request.system, sources);
  const int n_columns = int(columns.size());
  batch.shape = bench.shape(n_rhs, request.system, certificate);
  batch.shape.n_masses = n_masses;
  batch.shape.mass_by_mass = mass_by_mass;
  batch.shape.n_columns = n_columns;
  const double deflated = low ? std::sqrt(low->pairs().values.back()) / 2 : 0;
  const double tolerance =
      std::max(tolerance_in_force(request, numbers.precision), reached_with(low, numbers.precision));
  const ShiftedPrecision in =
      shifted_precision(numbers, context.lattice().global(), request.masses, deflated, tolerance);
  batch.shape.shifts_in = in;
  require_memory(
      all, batch.shape, context.cuda_device(),
      bench.held_of(estimate_memory(batch.shape), double((n_masses + 1) * n_rhs) * double(sources[0].bytes())));
  if (n_columns == 0) return;
  const auto for_columns = [&](StaggeredOperator& d, std::optional<StaggeredOperator>& own,
                               const SessionOptions& options) {
    if (n_columns == n_rhs) return &d;
    return &own.emplace(all, gauge.links().as_they_came(), operator_options(options, n_columns, context.cuda_device()),
                        d.hop_data());
  };
  StaggeredOperator* const first = for_columns(bench.precise(), batch.precise, numbers);
  StaggeredOperator* const later =
      in == ShiftedPrecision::precise ? nullptr : for_columns(*bench.sloppy(), batch.sloppy, iterated_options(numbers));
  all.agree([&] { batch.pass.emplace(*first, n_masses, columns, request.system, later, change_of_precision(in)); });
}

// Fields of `work` lie where the certificate runs.
ShiftedPassResult run_shifted_pass(ShiftedBatch& shifted, Gauge& gauge, const BatchWork& work) {
  const auto& [request, sources, b2, solutions, progress, interrupted, checkpoints, first_solution] = work;
  const Precision precision = gauge.options().precision;
  const std::size_t n_rhs = sources.size(), n_masses = request.masses.size();
  ShiftedPassResult found;
  found.mass.assign(n_masses, std::vector<SolvedRhs>(n_rhs));
  found.precision = precision;
  const Archive* const kept = checkpoints ? checkpoints->found() : nullptr;
  if (!kept || !ShiftedPass::went_on(*kept)) clear_solutions(request.system, solutions);
  if (!shifted.pass) return found;
  const double tolerance = tolerance_in_force(request, precision);
  ShiftedPassStop stop = pass_stop(request, tolerance, interrupted);
  stop.deflation = gauge.eigenpairs().deflation(request);
  stop.keeper = checkpoints;
  for (double& wanted : stop.tolerance)
    if (wanted > 0) wanted = std::max(wanted, reached_with(stop.deflation, precision));
  const double scale = stop.tolerance[smallest_mass(request)] / tolerance;
  const auto show = [&](const CgProgress& at) {
    progress({at.iteration, at.worst_ratio * scale, at.iterations_per_e});
  };
  found = shifted.pass->solve(request.masses, sources, b2, stop, progress ? show : ShowProgress(), solutions);
  if (request.system == System::full)
    for (std::size_t k = 0; k < n_masses; ++k)
      gauge.bench().pass().complete(request.masses[k], sources, solutions.subspan(k * n_rhs, n_rhs));
  return found;
}

}  // namespace

SolveReport solve_masses(Gauge& gauge, const BatchWork& work) {
  const auto& [request, sources, b2, solutions, progress, interrupted, checkpoints, first_solution] = work;
  const Communicator& all = gauge.context().communicator();
  Workbench& bench = gauge.bench();
  const std::size_t n_rhs = sources.size(), n_masses = request.masses.size();
  const MemorySpace certificate = bench.place_certificate(sources, solutions, request.system);

  const Stopwatch setting_up;
  bench.prepare(int(n_rhs), request.system, certificate);
  std::optional<ShiftedBatch> batch(std::in_place);
  make_shifted_batch(*batch, gauge, request, sources, certificate);
  const double setup_seconds = setting_up.seconds();

  CertificateFields::Brought brought;
  all.agree([&] { brought = bench.certificate().bring(sources, solutions); });
  const BatchWork here{request,  brought.sources, b2,          brought.solutions,
                       progress, interrupted,     checkpoints, first_solution};
  MassesSoFar so_far;
  const auto visit = [&](const Archive& archive) {
    archive("masses", [&](const Archive& masses) { so_far.visit(masses, n_masses, n_rhs); });
  };
  if (checkpoints) checkpoints->enclose(visit, here.solutions, first_solution);
  CertifiedSolve& whole = so_far.whole;
  const Stopwatch solving;
  if (!so_far.in_polishing) {
    so_far.found = run_shifted_pass(*batch, gauge, here);
    whole.cg_iterations = so_far.found.iterations;
    so_far.in_polishing = true;
  }
  const ShiftedPassResult& found = so_far.found;
  const SolveShape shifted = batch->shape;
  if (!shifted.mass_by_mass) whole.loop = to_string(found.form);
  whole.cg_seconds = solving.seconds();
  const std::int64_t shifted_bytes = batch->bytes();
  for (auto* const own : {&batch->precise, &batch->sloppy})
    if (*own) bench.count(**own);
  batch.reset();  // polishing does not need it

  polish_masses(certified_work(gauge, work), here, so_far);
  if (checkpoints) {
    checkpoints->end_enclosure();
    whole.checkpoint = checkpoints->summary();
  }
  bench.certificate().give_back(solutions);

  SolveReport report =
      filled_report(gauge, request, whole, setup_seconds, double((n_masses + 1) * n_rhs) * double(sources[0].bytes()));
  report.multi_shift = MultiShiftSummary{found.iterations, found.sloppy_iterations, shifted.n_columns, found.precision};
  if (!shifted.mass_by_mass) report.memory_bytes["shifted_vectors"] = double(all.sum(shifted_bytes));
  for (const auto& [object, bytes] : summed_over_ranks(all, estimate_memory(shifted).objects))
    report.predicted_memory_bytes[object] = bytes;
  return report;
}

}  // namespace staghorn
