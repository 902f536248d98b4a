// Gauge::solve_masses: one multi-shift pass for all masses, then for each mass the passes of a certified solve, which
// certify what is there and polish what is not good enough.
//
// With mixed precision the multi-shift pass still runs in the high one. Its residuals stay parallel only if nothing
// corrects them, and what fp32 leaves, some 1e-4, takes every mass nearly all iterations of a solve of its own.
#include <algorithm>
#include <cmath>

#include "dirac/fields/plain_algebra.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/stopwatch.hpp"
#include "solver/krylov/shifts/shifted_pass.hpp"
#include "solver/machine/memory_check.hpp"
#include "solver/request/operator_request.hpp"
#include "solver/request/solve_checks.hpp"
#include "solver/session/certified_solve.hpp"
#include "solver/session/gauge.hpp"

namespace staghorn {

namespace {

std::vector<double> relative(const std::vector<double>& history, double norm) {
  std::vector<double> result;
  for (const double norm2 : history) result.push_back(std::sqrt(norm2) / norm);
  return result;
}

// Puts what multi-shift did in front of what the passes of the certificate did.
void put_first(RhsReport& rhs, const SolvedRhs& shift, double mass, double source_norm) {
  rhs.mass = mass;
  rhs.shift_iterations = shift.iterations;
  std::vector<double> history = relative(shift.history, source_norm);
  if (rhs.iterations == 0)
    rhs.residual_iterated = shift.residual_norm / source_norm;
  else
    history.insert(history.end(), rhs.history.begin() + 1, rhs.history.end());
  for (long& update : rhs.updates) update += shift.iterations;
  rhs.history = std::move(history);
  rhs.iterations += shift.iterations;
}

}  // namespace

SolveReport Gauge::solve_masses(const SolveRequest& request, std::span<const VectorField> sources,
                                std::span<VectorField> solutions,
                                const std::function<void(const CgProgress&)>& progress, const SolveHabits& habits) {
  const Communicator& all = context_.communicator();
  const std::size_t n_rhs = sources.size(), n_masses = request.masses.size();
  check_request(request, options_.precision);
  if (options_.solver == "block") throw Error("solver", "another one with several masses", options_.solver);
  check_fields(all, lattice(), sources, solutions, n_masses);
  const MemorySpace certificate =
      certificate_space(options_.certificate, common_space(sources, solutions), context_.cuda_device() >= 0);
  const std::vector<double> b2 = source_norms2(all, request.system, sources, habits.zero_source_is_a_result);

  const Stopwatch setting_up;
  prepare(int(n_rhs), request.system, certificate);
  const std::vector<ShiftedColumn> columns = shifted_columns(all, request.system, sources);
  const int n_columns = int(columns.size());
  SolveShape shifted_shape = shape(int(n_rhs), request.system, certificate);
  shifted_shape.n_masses = int(n_masses);
  shifted_shape.n_columns = n_columns;
  const double there = double(precise_->link_bytes() + precise_->halo_bytes() + pass_->vector_bytes()) +
                       (sloppy_ ? double(sloppy_->link_bytes() + sloppy_->halo_bytes()) : 0);
  const double held = double(links_.bytes()) * (improved_ ? 2 : 1) + double(certificate_.bytes(MemorySpace::host)) +
                      double((n_masses + 1) * n_rhs) * double(sources[0].bytes());
  const bool on_gpu = context_.cuda_device() >= 0;
  require_memory(all, shifted_shape, context_.cuda_device(),
                 {held + (on_gpu ? 0 : there), on_gpu ? there + double(certificate_.bytes(MemorySpace::cuda)) : 0});
  precise_->reset_times();
  if (sloppy_) sloppy_->reset_times();
  std::optional<StaggeredOperator> own;  // where the batch is not that of the sources
  if (n_columns > 0 && n_columns != int(n_rhs))
    own.emplace(all, operator_links(), operator_options(options_, n_columns, context_.cuda_device()),
                precise_->hop_data());
  std::optional<ShiftedPass> shifted;
  all.agree([&] {
    if (n_columns > 0) shifted.emplace(own ? *own : *precise_, int(n_masses), columns, request.system);
  });
  const double setup_seconds = setting_up.seconds();

  std::span<const VectorField> brought_sources;
  std::span<VectorField> brought_solutions;
  all.agree([&] {
    brought_sources = certificate_.bring_sources(sources);
    brought_solutions = certificate_.bring_solutions(solutions);
  });
  for (VectorField& x : brought_solutions)
    for (const Parity parity : {Parity::even, Parity::odd})
      if (request.system == System::full || (request.system == System::odd) == (parity == Parity::odd))
        clear_parity(x, parity);

  CertifiedSolve whole;
  ShiftedPassResult found;
  found.mass.assign(n_masses, std::vector<SolvedRhs>(n_rhs));
  const double tolerance = tolerance_in_force(request, options_.precision);
  const Stopwatch solving;
  if (shifted) {
    const std::size_t smallest =
        std::size_t(std::min_element(request.masses.begin(), request.masses.end()) - request.masses.begin());
    ShiftedPassStop stop{{}, request.max_iterations, habits.interrupted};
    for (std::size_t k = 0; k < n_masses; ++k) {
      double wanted = request.tolerances.empty() ? tolerance : request.tolerances[k];
      if (wanted == 0 && k == smallest) wanted = tolerance;
      stop.tolerance.push_back(wanted == 0 ? 0
                                           : std::max(aim_of_pass * wanted, reduction_per_pass(options_.precision)));
    }
    const double scale = stop.tolerance[smallest] / tolerance;
    const auto show = [&](const CgProgress& at) { progress({at.iteration, at.worst_ratio * scale}); };
    found =
        shifted->solve(request.masses, brought_sources, b2, stop, progress ? show : ShowProgress(), brought_solutions);
    if (request.system == System::full)
      for (std::size_t k = 0; k < n_masses; ++k)
        pass_->complete(request.masses[k], brought_sources, brought_solutions.subspan(k * n_rhs, n_rhs));
    whole.loop = to_string(found.form);
    whole.cg_iterations = found.iterations;
  }
  whole.cg_seconds = solving.seconds();
  const std::int64_t shifted_bytes = shifted ? shifted->bytes() + (own ? own->halo_bytes() : 0) : 0;
  shifted.reset();  // polishing does not need it

  const CertifiedWork with{all,
                           certificate_.links(operator_links()),
                           options_.boundary,
                           options_.precision,
                           *pass_,
                           certificate_.residual(),
                           habits.interrupted,
                           nullptr,
                           [this] { pack_links(); }};
  for (std::size_t k = 0; k < n_masses; ++k) {
    SolveRequest of_mass = request;
    of_mass.masses.clear();
    of_mass.tolerances.clear();
    of_mass.mass = request.masses[k];
    if (!request.tolerances.empty() && request.tolerances[k] > 0) of_mass.tolerance = request.tolerances[k];
    long used = 0;
    for (const SolvedRhs& rhs : found.mass[k]) used = std::max(used, rhs.iterations);
    of_mass.max_iterations = request.max_iterations - used;
    CertifiedSolve done =
        certified_solve(with, of_mass, brought_sources, b2, brought_solutions.subspan(k * n_rhs, n_rhs), progress);
    for (std::size_t i = 0; i < n_rhs; ++i)
      if (b2[i] > 0)
        put_first(done.rhs[i], found.mass[k][i], request.masses[k], std::sqrt(b2[i]));
      else
        done.rhs[i].mass = request.masses[k];
    whole.rhs.insert(whole.rhs.end(), done.rhs.begin(), done.rhs.end());
    whole.cg_iterations += done.cg_iterations;
    whole.cg_seconds += done.cg_seconds;
    whole.certify_seconds += done.certify_seconds;
    whole.convert_seconds += done.convert_seconds;
    if (!done.precise_loop.empty()) whole.precise_loop = done.precise_loop;
  }
  certificate_.give_back(solutions);

  SolveReport report =
      filled_report(request, whole, setup_seconds, double((n_masses + 1) * n_rhs) * double(sources[0].bytes()));
  report.multi_shift = MultiShiftSummary{found.iterations, n_columns};
  report.memory_bytes["shifted_vectors"] = double(all.sum(shifted_bytes));
  for (const auto& [object, bytes] : estimate_memory(shifted_shape).objects)
    report.predicted_memory_bytes[object] = bytes * all.size();
  return report;
}

}  // namespace staghorn
