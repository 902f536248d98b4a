// Session::solve: passes of even-odd CG at the session's precision, each judged by the plain fp64 residual.
//
//   x = guess
//   repeat:  r = b - M x          plain path, fp64, uncompressed links: the certificate
//            stop where |r| <= tolerance |b|, where iterations are used up, or where the last pass gained nothing
//            x += even-odd CG (M e = r)     fast path
//
// One pass is the rule. Another follows where rounding made CG believe more than is true; in fp32 that makes the answer
// as good as its fp64 certificate demands (iterative refinement [Wilkinson 1963]).
#include <omp.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dirac/operators/plain_operator.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/phase.hpp"
#include "halo/watch/stopwatch.hpp"
#include "solver/krylov/even_odd.hpp"
#include "solver/machine/memory_estimate.hpp"
#include "solver/report/explanation.hpp"
#include "solver/report/provenance.hpp"
#include "solver/report/time_table.hpp"
#include "solver/request/solve_checks.hpp"
#include "solver/session/session_state.hpp"

namespace staghorn {

namespace {

// How much one pass may be asked to reduce the residual: what rounding in its precision leaves room for.
double reduction_per_pass(Precision precision) {
  return 100 * (precision == Precision::fp64 ? std::numeric_limits<double>::epsilon()
                                             : double(std::numeric_limits<float>::epsilon()));
}

// CG aims a little lower than the tolerance, so that rounding does not cost a second pass.
constexpr double aim = 0.999;

// A pass that does not halve the true residual will not be followed by one that does.
constexpr double least_gain = 0.5;

// r = b - M x (or b - A x) by the plain path; returns |r|^2.
double true_residual(const Session& session, const SolveRequest& request, const VectorField& x, const VectorField& b,
                     VectorField& r) {
  const Boundary& boundary = session.options().boundary;
  if (request.system == System::full)
    return full_residual(session.communicator(), session.links(), boundary, request.mass, x, b, r);
  const Parity parity = request.system == System::even ? Parity::even : Parity::odd;
  return parity_residual(session.communicator(), session.links(), boundary, request.mass, parity, x, b, r);
}

// What is remembered of a right-hand side from pass to pass.
struct Column {
  std::optional<Outcome> outcome;  // once it is done
  double previous_residual = std::numeric_limits<double>::infinity();
  bool broke_down = false;
};

// The typed outcome of a right-hand side after a look at its true residual, or nothing where another pass is due.
std::optional<Outcome> judge(const Column& column, const RhsReport& rhs, double tolerance, long max_iterations) {
  if (!std::isfinite(rhs.residual_true)) return Outcome::breakdown;
  if (rhs.residual_true <= tolerance) return Outcome::certified;
  if (column.broke_down) return Outcome::breakdown;
  if (rhs.iterations >= max_iterations) return Outcome::out_of_iterations;
  if (rhs.residual_true > least_gain * column.previous_residual) return Outcome::stagnated;
  return std::nullopt;
}

// Adds what a pass of CG did to the report; residuals relative to |b|.
void record(RhsReport& rhs, const CgColumn& column, double source_norm) {
  rhs.iterations += column.iterations;
  rhs.residual_iterated = column.residual_norm / source_norm;
  // The first residual of a later pass is the last of the pass before.
  for (long update : column.updates) rhs.updates.push_back(rhs.iterations - column.iterations + update);
  for (std::size_t i = rhs.history.empty() ? 0 : 1; i < column.history.size(); ++i)
    rhs.history.push_back(std::sqrt(column.history[i]) / source_norm);
}

void apply_milc_signs(VectorField& v) {
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < v.size(); ++site) {
    if (milc_phase_sign(v.lattice().to_global(v.lattice().site_coordinates(site))) > 0) continue;
    for (Complex<double>& c : v[site].c) c = {-c.re, -c.im};
  }
}

void clear_parity(VectorField& v, Parity parity) {
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < v.size(); ++site)
    if (Lattice::parity_of(v.lattice().site_coordinates(site)) == parity) v[site] = {};
}

double peak_resident_bytes() {
  rusage usage{};
  return getrusage(RUSAGE_SELF, &usage) == 0 ? 1024.0 * double(usage.ru_maxrss) : 0;
}

double sum_bytes(const Communicator& communicator, double bytes) {
  return double(communicator.sum(std::int64_t(bytes)));
}

}  // namespace

SolveReport Session::solve(const SolveRequest& request, std::span<const VectorField> sources,
                           std::span<VectorField> solutions, const std::function<void(const CgProgress&)>& progress) {
  const Communicator& all = communicator();
  const double tolerance = tolerance_in_force(request, options().precision);
  const std::size_t n_rhs = sources.size();
  check_request(request, options().precision);
  check_fields(all, lattice(), sources, solutions);

  // Everything below is in CPS phases.
  std::vector<VectorField> converted;
  if (request.phases == Phases::milc) {
    converted.assign(sources.begin(), sources.end());
    for (VectorField& b : converted) apply_milc_signs(b);
    for (VectorField& x : solutions) apply_milc_signs(x);
    sources = converted;
  }
  if (request.system != System::full)
    for (VectorField& x : solutions) clear_parity(x, request.system == System::even ? Parity::odd : Parity::even);
  const std::vector<double> b2 = source_norms2(all, request.system, sources);

  SolveReport report;
  report.rhs.resize(n_rhs);
  const Stopwatch setting_up;
  state_->prepare(int(n_rhs), request.system);
  StaggeredOperator& d = *state_->fast;
  EvenOddPass& pass = *state_->pass;
  VectorField& r = *state_->residual;
  d.reset_times();
  if (state_->sloppy) state_->sloppy->reset_times();
  report.seconds["setup"] = setting_up.seconds();

  double cg_seconds = 0, certify_seconds = 0, convert_seconds = 0;
  long cg_iterations = 0;  // the most of any right-hand side in each pass, summed: what the wall clock saw
  std::vector<Column> columns(n_rhs);
  for (;;) {
    pass.begin(request.mass, request.system);
    std::vector<double> target(n_rhs, 1);  // for those that are done: a zero source is solved at once
    long iterations_left = std::numeric_limits<long>::max();
    double scale = 0;  // from CG's ratio, relative to the target of this pass, to one relative to the tolerance
    bool more = false;
    for (std::size_t i = 0; i < n_rhs; ++i) {
      if (columns[i].outcome) continue;
      const Stopwatch certifying;
      std::optional<Phase> phase("certificate");
      const bool from_zero = is_zero(all, solutions[i]);  // then b - M x is b itself
      const double r2 = from_zero ? b2[i] : true_residual(*this, request, solutions[i], sources[i], r);
      report.rhs[i].residual_true = std::sqrt(r2 / b2[i]);
      phase.reset();
      certify_seconds += certifying.seconds();
      columns[i].outcome = judge(columns[i], report.rhs[i], tolerance, request.max_iterations);
      if (columns[i].outcome) continue;
      more = true;
      columns[i].previous_residual = report.rhs[i].residual_true;
      const double relative_target =
          std::max(aim * tolerance, report.rhs[i].residual_true * reduction_per_pass(options().precision));
      target[i] = relative_target * std::sqrt(b2[i]);
      scale = std::max(scale, relative_target / tolerance);
      iterations_left = std::min(iterations_left, request.max_iterations - report.rhs[i].iterations);
      const Stopwatch converting;
      pass.set_source(int(i), from_zero ? sources[i] : r, std::sqrt(r2));
      convert_seconds += converting.seconds();
    }
    if (!more) break;

    const Stopwatch solving;
    const auto show = [&](const CgProgress& p) { progress({cg_iterations + p.iteration, p.worst_ratio * scale}); };
    const std::vector<CgColumn> solved =
        pass.solve(target, iterations_left, progress ? show : std::function<void(const CgProgress&)>());
    cg_seconds += solving.seconds();
    const Stopwatch converting;
    long longest = 0;
    for (std::size_t i = 0; i < n_rhs; ++i) {
      if (columns[i].outcome) continue;
      record(report.rhs[i], solved[i], std::sqrt(b2[i]));
      columns[i].broke_down = solved[i].outcome == CgOutcome::breakdown;
      longest = std::max(longest, solved[i].iterations);
      if (std::isfinite(solved[i].residual_norm)) pass.add_solution(int(i), solutions[i]);
    }
    convert_seconds += converting.seconds();
    cg_iterations += longest;
  }

  report.outcome = Outcome::certified;
  for (std::size_t i = 0; i < n_rhs; ++i) {
    report.rhs[i].outcome = *columns[i].outcome;
    report.outcome = std::max(report.outcome, *columns[i].outcome);
    const Norms2 x2 = norms2(all, solutions[i]);
    report.rhs[i].norm2 = x2.all;
    report.rhs[i].norm2_even = x2.even;
    report.rhs[i].norm2_odd = x2.odd;
    if (request.phases == Phases::milc) apply_milc_signs(solutions[i]);
  }

  report.device = device();
  report.transport = d.transport();
  report.transports = d.transport_choice();
  report.tuning = d.tuning();
  if (state_->sloppy) {
    report.sloppy_transports = state_->sloppy->transport_choice();
    report.sloppy_tuning = state_->sloppy->tuning();
  }
  report.system = to_string(request.system);
  report.options = options();
  report.request = request;
  report.tolerance = tolerance;
  report.lattice = lattice().global();
  report.grid = lattice().grid();
  report.hosts = placement().hosts;
  report.mapping = placement().mapping;
  report.share_within_hosts = placement().share_within_hosts;
  report.local = lattice().local();
  report.ranks = all.size();
  report.threads = omp_get_max_threads();
  report.gauge = gauge();
  report.provenance = run_provenance();
  report.provenance["kernels"] = d.kernels();
  if (state_->cublas) report.provenance["cublas"] = state_->cublas->version();
  report.explanation = explain(report);

  HopTimes hop = d.times();
  FaceTimes face_times = d.face_times();
  if (state_->sloppy) {
    hop += state_->sloppy->times();
    face_times += state_->sloppy->face_times();
  }
  StaggeredOperator& iterated = state_->sloppy ? *state_->sloppy : d;
  if (iterated.host_free() && !state_->cublas) face_times = {};  // those of the few hops outside the loop
  report.times = time_table(iterated, face_times, cg_seconds);
  report.seconds["read"] = state_->read_seconds;
  report.seconds["solve"] = cg_seconds;
  report.seconds["convert"] = convert_seconds;
  report.seconds["certify"] = certify_seconds;
  report.seconds["hop_pack"] = hop.pack + hop.start;
  report.seconds["hop_interior"] = hop.interior;
  report.seconds["hop_wait"] = hop.wait;
  report.seconds["hop_boundary"] = hop.boundary;
  report.seconds["hop_sums"] = hop.sums;
  for (auto& [phase, seconds] : report.seconds) seconds = all.max(seconds);  // of the slowest rank
  if (report.seconds["solve"] > 0)
    report.site_iterations_per_second =
        double(lattice().global_volume()) * double(cg_iterations) * double(n_rhs) / report.seconds["solve"];

  report.memory_bytes = {{"links", double(d.link_bytes())},
                         {"sloppy_links", state_->sloppy ? double(state_->sloppy->link_bytes()) : 0},
                         {"halo", double(d.halo_bytes() + (state_->sloppy ? state_->sloppy->halo_bytes() : 0))},
                         {"vectors", double(pass.vector_bytes())},
                         {"certificate_links", double(links().bytes())},
                         {"certificate_vectors", double(r.bytes())},
                         {"sources_solutions", double(2 * n_rhs + converted.size()) * double(sources[0].bytes())},
                         {"peak_resident", peak_resident_bytes()}};
  for (auto& [object, bytes] : report.memory_bytes) bytes = sum_bytes(all, bytes);
  report.predicted_memory_bytes = estimate_memory(state_->shape(int(n_rhs), request.system)).objects;
  for (auto& [object, bytes] : report.predicted_memory_bytes) bytes *= all.size();
  return report;
}

}  // namespace staghorn
