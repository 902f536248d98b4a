// The passes of a solve: even-odd CG at the session's precision, each checked by the plain fp64 residual.
//
//   x = guess
//   repeat:  r = b - M x          plain path, fp64, uncompressed links: the certificate
//            stop if |r| <= tolerance |b|, if the iterations are used up, or if the last pass did not halve |r|
//            x += even-odd CG (M e = r)     fast path
//
// Usually there is one pass. Another pass follows if rounding made CG believe more than is true. In fp32 the later
// passes make the answer as good as its fp64 certificate demands (iterative refinement [Wilkinson 1963]).
#include "solver/session/passes/certified_solve.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "dirac/fields/plain_algebra.hpp"
#include "halo/watch/activity.hpp"
#include "halo/watch/stopwatch.hpp"
#include "solver/krylov/aims.hpp"
#include "solver/krylov/even_odd.hpp"
#include "solver/request/solve_checks.hpp"
#include "solver/session/passes/scaled_sources.hpp"

namespace staghorn {

namespace {

double epsilon_of(Precision precision) {
  return precision == Precision::fp64 ? std::numeric_limits<double>::epsilon()
                                      : double(std::numeric_limits<float>::epsilon());
}

// Of a full system: what the first pass may leave through x_o = (b_o - D x_e) / 2m, where b_o and D x_e cancel but for
// a share of 2m. The next pass has a source whose odd part is as small as that, and takes it out.
double left_by_division(const SolveRequest& request, Precision precision) {
  constexpr double roundings = 1e4;  // 60 of them on 4x4x4x8
  return request.system == System::full ? roundings * epsilon_of(precision) / (2 * request.mass) : 0;
}

// How often a solve goes back after a pass that was worth nothing. More than this is no accident.
constexpr int most_recoveries = 6;

long iterations_of_passes(const RhsReport& rhs) { return rhs.iterations - rhs.shift_iterations; }

// Whether the last pass began so near to the tolerance that it was asked for less than half of its residual, and yet
// missed it. Where rounding adds to what CG leaves, this says nothing of the next pass, which aims lower.
bool missed_from_near(const PassMemory& memory, const RhsReport& rhs, double tolerance) {
  return rhs.residual_true > tolerance && memory.previous_residual < tolerance / least_gain_of_pass;
}

// The outcome of a right-hand side after its true residual was computed, or nothing if it needs another pass.
std::optional<Outcome> outcome_of(const PassMemory& memory, const RhsReport& rhs, double tolerance,
                                  const Targets& targets, long max_iterations, double left_by_division) {
  if (!std::isfinite(rhs.residual_true)) return Outcome::breakdown;
  if (targets.are_met(tolerance, rhs.residual_true, rhs.residual_hq)) return Outcome::certified;
  if (memory.broke_down) return Outcome::breakdown;
  if (iterations_of_passes(rhs) >= max_iterations) return Outcome::out_of_iterations;
  // A pass that was asked for `tolerance` and reached it has gained what it was to gain: the next is for the other one.
  const bool reached = rhs.residual_true <= tolerance && memory.previous_residual > tolerance;
  // Far from the source |r| does not see what a pass gains.
  if (targets.are_two() && rhs.residual_true <= tolerance && rhs.residual_hq <= least_gain_of_pass * memory.previous_hq)
    return std::nullopt;
  if (memory.passes == 1 && rhs.residual_true <= left_by_division) return std::nullopt;
  const bool gains = reached || rhs.residual_true <= least_gain_of_pass * memory.previous_residual;
  // Where CG gave up, it may stand for longer before it falls: the next pass is patient.
  const bool may_gain_yet = memory.gave_up || missed_from_near(memory, rhs, tolerance);
  if (!gains && (!may_gain_yet || memory.patient)) return Outcome::stagnated;
  return std::nullopt;
}

// Adds the iterations of one search to the report. Residuals are relative to |b|; the first of a later search is the
// last of the search before.
void append_leg(RhsReport& rhs, const SolvedRhs& leg, double source_norm) {
  for (const long update : leg.updates) rhs.updates.push_back(rhs.iterations + update);
  rhs.mismatches.insert(rhs.mismatches.end(), leg.mismatches.begin(), leg.mismatches.end());
  rhs.iterations += leg.iterations;
  rhs.residual_iterated = leg.residual_norm / source_norm;
  for (std::size_t i = rhs.history.empty() ? 0 : 1; i < leg.history.size(); ++i)
    rhs.history.push_back(std::sqrt(leg.history[i]) / source_norm);
}

}  // namespace

Passes::Passes(const CertifiedWork& with, const SolveRequest& request, std::span<const VectorField> sources,
               std::span<const double> b2, std::span<VectorField> solutions, std::span<const SolvedRhs> shifts)
    : with_(with),
      request_(request),
      tolerance_(tolerance_in_force(request, with.precision)),
      sources_(sources),
      b2_(b2),
      solutions_(solutions),
      memory_(sources.size()) {
  done_.rhs.resize(sources.size());
  good_.resize(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i)
    if (b2[i] == 0) {
      solve_zero_source(i);
    } else if (!shifts.empty() && !shifts[i].history.empty()) {
      append_leg(done_.rhs[i], shifts[i], std::sqrt(b2[i]));
      done_.rhs[i].shift_iterations = shifts[i].iterations;
    }
  if (!with.checkpoints) return;
  before_ = memory_;
  with.checkpoints->surround([this](const Archive& archive) { archive("passes", *this); }, solutions);
}

// Computes the true residual of every right-hand side that is not done, decides which of them are done now, and hands
// the residuals of the others to the pass as its sources. Returns whether there are others. Collective.
bool Passes::certify() {
  before_ = memory_;
  target_.assign(sources_.size(), 1);  // a right-hand side that is done has a zero source, which is solved at once
  iterations_left_ = std::numeric_limits<long>::max();
  scale_ = 0;
  with_.pass.begin(request_.mass, request_.system);
  bool more = false;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (memory_[i].outcome) continue;
    RhsReport& rhs = done_.rhs[i];
    const Stopwatch certifying;
    std::optional<Activity> activity("certificate");
    judge(i);
    if (request_.recover && is_fault(i) && done_.faults.recovered < most_recoveries) go_back(i);
    activity.reset();
    done_.certify_seconds += certifying.seconds();
    if (memory_[i].outcome != Outcome::certified && with_.interrupted && *with_.interrupted)
      memory_[i].outcome = Outcome::out_of_iterations;  // whatever it might have become
    if (memory_[i].outcome) continue;
    more = true;
    PassMemory& memory = memory_[i];
    const bool near = missed_from_near(memory, rhs, tolerance_);
    if (near || (memory.gave_up && rhs.residual_true > least_gain_of_pass * memory.previous_residual))
      memory.patient = true;
    if (memory.patient) with_.pass.be_patient(true);
    memory.previous_residual = rhs.residual_true;
    memory.previous_hq = rhs.residual_hq;
    if (request_.recover) keep_good(i);
    double wanted = (near ? aim_after_a_miss : aim_of_pass) * tolerance_;
    if (request_.are_two() && rhs.residual_true <= tolerance_)
      wanted = aim_hq * request_.residual_of_second(rhs.residual_true, rhs.residual_hq);
    const double relative_target = std::max(wanted, rhs.residual_true * reduction_per_pass(with_.precision));
    target_[i] = relative_target * std::sqrt(b2_[i]);
    scale_ = std::max(scale_, relative_target / tolerance_);
    iterations_left_ = std::min(iterations_left_, most_iterations(request_) - iterations_of_passes(rhs));
    const Stopwatch converting;
    with_.pass.set_source(int(i), from_zero_ ? sources_[i] : with_.residual, std::sqrt(r2_));
    done_.convert_seconds += converting.seconds();
  }
  return more;
}

// Runs CG on what `certify` handed over, and adds its solutions. Collective.
void Passes::iterate(const std::function<void(const CgProgress&)>& progress) {
  const auto show = [&](const CgProgress& p) {
    progress({done_.cg_iterations + p.iteration, p.worst_ratio * scale_, p.iterations_per_e});
  };
  const Stopwatch solving;
  const CgResult cg = with_.pass.solve(target_, iterations_left_, progress ? show : ShowProgress(), with_.interrupted,
                                       with_.checkpoints, with_.deflation);
  add(cg, solving.seconds());
}

void Passes::add(const CgResult& cg, double seconds) {
  done_.cg_seconds += seconds;
  if (done_.took_over.empty()) done_.loop = to_string(cg.form);  // of block CG the solver that began
  if (cg.precise_form) done_.precise_loop = to_string(*cg.precise_form);
  if (done_.took_over.empty()) done_.took_over = cg.took_over;
  const Stopwatch converting;
  long longest = 0;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    if (memory_[i].outcome) continue;
    append_leg(done_.rhs[i], cg.rhs[i], std::sqrt(b2_[i]));
    ++memory_[i].passes;
    memory_[i].broke_down = cg.rhs[i].outcome == CgOutcome::breakdown;
    memory_[i].gave_up = cg.rhs[i].outcome == CgOutcome::stagnated;
    done_.spectrum.merge(
        estimate_spectrum(cg.rhs[i].history, cg.rhs[i].steps, cg.rhs[i].updates, 4 * request_.mass * request_.mass));
    longest = std::max(longest, cg.rhs[i].iterations);
    if (std::isfinite(cg.rhs[i].residual_norm)) with_.pass.add_solution(int(i), solutions_[i]);
  }
  done_.convert_seconds += converting.seconds();
  done_.cg_iterations += longest;
}

// Outcomes and norms of all right-hand sides, once none is left. Collective.
CertifiedSolve Passes::result() {
  const Stopwatch certifying;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    done_.rhs[i].outcome = *memory_[i].outcome;
    const Norms2 x2 = norms2(with_.communicator, solutions_[i]);
    done_.rhs[i].norm2 = x2.all;
    done_.rhs[i].norm2_even = x2.even;
    done_.rhs[i].norm2_odd = x2.odd;
    const double on_system = request_.system == System::full   ? x2.all
                             : request_.system == System::even ? x2.even
                                                               : x2.odd;
    if (b2_[i] > 0) done_.rhs[i].growth2 = on_system / b2_[i];
    done_.rhs[i].attainable = attainable_residual(request_, done_.spectrum, done_.rhs[i]);
  }
  done_.certify_seconds += certifying.seconds();
  if (with_.checkpoints) done_.checkpoint = with_.checkpoints->summary();
  return std::move(done_);
}

// Computes the true residual of a right-hand side, its norm r2_, and what it means for the outcome. Collective.
void Passes::judge(std::size_t i) {
  RhsReport& rhs = done_.rhs[i];
  from_zero_ = is_zero(with_.communicator, solutions_[i]);  // then b - M x is b itself
  r2_ = from_zero_ ? b2_[i] : residual_norm2(i);
  rhs.residual_true = std::sqrt(r2_ / b2_[i]);
  const auto decide = [&] {
    memory_[i].outcome = outcome_of(memory_[i], rhs, tolerance_, request_, most_iterations(request_),
                                    left_by_division(request_, with_.precision));
  };
  rhs.residual_hq = 1;  // of x = 0; else it is computed where a residual is the last, or decides
  decide();
  if (!from_zero_ && (memory_[i].outcome || request_.are_two())) {
    rhs.residual_hq =
        heavy_quark_residual(with_.communicator, solutions_[i], with_.residual, sites_of(request_.system));
    decide();
    if (!memory_[i].outcome) residual_norm2(i);  // that used it up
  }
  if (memory_[i].passes > 0 && !(rhs.residual_true <= 2 * std::max(rhs.residual_iterated, tolerance_)))
    ++done_.faults.noticed;
}

// Whether the last pass was worth nothing: as after a fault, or where rounding allows no more.
bool Passes::is_fault(std::size_t i) const {
  const std::optional<Outcome>& outcome = memory_[i].outcome;
  return outcome == Outcome::breakdown || outcome == Outcome::stagnated;
}

// Goes on from the solution before the last pass, if it was better, with links packed again. Collective.
void Passes::go_back(std::size_t i) {
  ++done_.faults.recovered;
  with_.pack_links();
  memory_[i].broke_down = false;
  if (!(done_.rhs[i].residual_true <= memory_[i].previous_residual)) {
    if (good_[i])
      solutions_[i] = *good_[i];
    else
      for (const Parity cleared : {Parity::even, Parity::odd}) clear_parity(solutions_[i], cleared);
  }
  memory_[i].previous_residual = std::numeric_limits<double>::infinity();
  judge(i);
}

void Passes::keep_good(std::size_t i) {
  if (from_zero_)
    good_[i].reset();
  else if (good_[i])
    *good_[i] = solutions_[i];
  else
    good_[i] = solutions_[i];
}

void PassMemory::visit(const Archive& archive) {
  archive("outcome", outcome);
  archive("previous_residual", previous_residual);
  archive("previous_hq", previous_hq);
  archive("broke_down", broke_down);
  archive("passes", passes);
  archive("gave_up", gave_up);
  archive("patient", patient);
}

void Passes::visit(const Archive& archive) {
  archive("memory", before_, memory_.size());
  archive("rhs", done_.rhs, memory_.size());
  archive("smallest", done_.spectrum.smallest);
  archive("largest", done_.spectrum.largest);
  archive.count("cg_iterations", done_.cg_iterations);
  archive("loop", done_.loop);
  archive("took_over", done_.took_over);
  if (archive.reads()) memory_ = before_;
}

// x = 0 on the sites of the system.
void Passes::solve_zero_source(std::size_t i) {
  VectorField& x = solutions_[i];
  for (const Parity cleared : {Parity::even, Parity::odd})
    if (sites_of(request_.system).value_or(cleared) == cleared) clear_parity(x, cleared);
  memory_[i].outcome = Outcome::certified;
}

double Passes::residual_norm2(std::size_t i) {
  return true_residual({with_.communicator, with_.links, with_.boundary, with_.residual}, request_, solutions_[i],
                       sources_[i]);
}

double reduction_per_pass(Precision precision) { return 100 * epsilon_of(precision); }

CertifiedSolve certified_solve(const CertifiedWork& with, const SolveRequest& request,
                               std::span<const VectorField> sources, std::span<const double> b2,
                               std::span<VectorField> solutions, const std::function<void(const CgProgress&)>& progress,
                               std::span<const SolvedRhs> shifts) {
  Passes passes(with, request, sources, b2, solutions, shifts);
  while (passes.certify()) passes.iterate(progress);
  return passes.result();
}

}  // namespace staghorn
