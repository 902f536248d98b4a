// How many iterations a search is given where no number limits it: by coefficients that are made up here.
#include <cmath>
#include <vector>

#include "solver/krylov/running_rhs.hpp"
#include "solver/krylov/updated_rhs.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

constexpr double target = 1e-10;

// Runs one right-hand side from |r| = 1 with alpha = 1/4 until it is done, or for `most` iterations; |r|^2 after each
// is r2(iteration).
template <class Norm2>
Running run(double least, long most, const Norm2& r2) {
  CgStop stop;
  stop.target_norm = {target};
  stop.patient = true;
  RunningRhs running(std::vector<double>{1}, stop, least);
  long iteration = 0;
  while (running.go_on(iteration + 1) && iteration < most) {
    ++iteration;
    running.alpha(std::vector<double>{r2(iteration - 1)}, std::vector<double>{4 * r2(iteration - 1)});
    running.take_residuals(std::vector<double>{r2(iteration)});
  }
  return running.memory()[0];
}

// The bound holds for the Chebyshev polynomials that give it, and a matrix of condition 1 needs hardly an iteration.
bool bound_is_that_of_chebyshev() {
  const double kappa = 1e4, root = std::sqrt(kappa), q = (root - 1) / (root + 1);
  bool holds = CHECK(iteration_bound(0, target) == 0);
  for (const double share : {1e-3, 1e-10, 1e-15}) {
    const double needed = std::log(share / (2 * root)) / std::log(q);
    const long bound = iteration_bound(root, share);
    holds = holds && CHECK(double(bound) >= needed) && CHECK(double(bound) < needed + root / 2 + 2);
  }
  return holds && CHECK(iteration_bound(root, 0) == iteration_bound(root, 0x1p-100)) &&
         CHECK(iteration_bound(root, 1e-320) > 0) && CHECK(root_condition({0.04, 4}, 1) == 2) &&
         CHECK(root_condition({1, 4}, 0.04) == 2) && CHECK(root_condition({}, 1) == 0) &&
         CHECK(std::fabs(root_condition_of_shift(1, 0) - 1e6) < 1);
}

bool looks_are_rare_and_at_ends_of_intervals() {
  int looks = 0;
  for (long iteration = 0; iteration < 131072; ++iteration) {
    looks += is_look(iteration);
    if (is_look(iteration) && !CHECK(iteration % cg_refresh_interval == 0)) return false;
  }
  return CHECK(looks == 8) && CHECK(next_look(0) == first_look) && CHECK(next_look(512) == 1024) &&
         CHECK(next_look(131072) == 262144) && CHECK(next_look(262144) == 393216);
}

// Coefficients whose residual falls ever so slowly are those of a matrix with tiny eigenvalues, which a shift of 0.01
// rules out.
bool search_ends_far_beyond_what_the_shift_allows() {
  const auto slowly = [](long iteration) { return std::exp(-1e-6 * double(iteration)); };
  const long most = 20000;
  const Running on = run(1e-14, most, slowly), ended = run(0.01, most, slowly);
  const long bound = iteration_bound(std::sqrt(16 / 0.01), target);  // alpha = 1/4: eigenvalues up to 16
  return CHECK(on.active) && CHECK(on.done.iterations == most) && CHECK(!ended.active) &&
         CHECK(ended.done.outcome == CgOutcome::stagnated) && CHECK(ended.done.iterations >= most_bounds * bound) &&
         CHECK(ended.done.iterations <= 4 * most_bounds * bound) && CHECK(is_look(ended.done.iterations));
}

// |r| stands for 3000 iterations and then falls, as it does at light masses.
bool residual_may_stand_where_the_matrix_is_ill_conditioned() {
  const auto stands = [](long iteration) {
    return iteration < 700    ? 1 / (1 + 1e-3 * double(iteration))
           : iteration < 3700 ? 0.9
                              : 0.5 * std::exp(-0.05 * double(iteration - 3700));
  };
  const auto for_ever = [](long iteration) { return iteration < 700 ? 1 / (1 + 1e-3 * double(iteration)) : 0.9; };
  const Running passed = run(1e-9, 10000, stands), ended = run(1, 10000, for_ever);
  return CHECK(passed.done.outcome == CgOutcome::converged) && CHECK(passed.done.iterations > 3700) &&
         CHECK(ended.done.outcome == CgOutcome::stagnated) && CHECK(ended.done.iterations < 2000);
}

// Updates in high precision: whoever uses up its iterations is out of them, also where little was gained, and stagnated
// is who lost the residual at update after update.
bool updates_tell_stagnation_from_the_end_of_iterations() {
  const auto outcome_after = [](double r2, double mismatch) {
    const CgStop stop{{target}, 50};
    UpdatedRhs rhs(stop, std::vector<double>{1}, 0.01, {0.02, 0.03});
    SolvedRhs ten;
    ten.outcome = CgOutcome::converged;
    ten.iterations = 10;
    ten.history.assign(11, 1e-2);
    ten.steps.assign(10, 0.25);
    bool holds = true;
    for (long update = 1; update <= 5 && rhs.count_active() > 0; ++update) {
      holds = holds && CHECK(rhs.iterations_left() == 60 - 10 * update);
      rhs.record_update({&ten, 1}, std::vector<double>{r2}, std::vector<double>{mismatch});
      rhs.apply_stop_rule(std::vector<double>{r2});
    }
    holds = holds && CHECK(rhs.count_active() == 0);
    const SolvedRhs done = rhs.results()[0];
    const auto updates = std::size_t(done.iterations / 10);
    holds = holds && CHECK(done.updates.size() == updates) && CHECK(done.updates.back() == done.iterations) &&
            CHECK(done.mismatches == std::vector<double>(updates, mismatch)) &&
            CHECK(done.history.size() == 10 * updates + 1) && CHECK(done.history.back() == r2);
    return holds ? std::optional(std::pair(done.outcome, done.iterations)) : std::nullopt;
  };
  return CHECK(outcome_after(0.99e-2, 0.02) == std::pair(CgOutcome::out_of_iterations, 50L)) &&
         CHECK(outcome_after(0.99e-2, 0.6) == std::pair(CgOutcome::stagnated, 40L)) &&
         CHECK(outcome_after(1e-22, 0.6) == std::pair(CgOutcome::converged, 10L));
}

// Low precision may be off by a small share of the residual: the distance of updates grows and shrinks with it.
bool updates_are_as_far_apart_as_the_mismatch_allows() {
  const CgStop stop{{target}};
  UpdatedRhs rhs(stop, std::vector<double>{1}, 0.01, {0.02, 0.03});
  const auto interval_after = [&](long iterations, double mismatch) {
    SolvedRhs leg;
    leg.iterations = iterations;
    leg.history.assign(std::size_t(iterations) + 1, 1e-2);
    rhs.record_update({&leg, 1}, std::vector<double>{1e-2}, std::vector<double>{mismatch});
    return rhs.interval();
  };
  return CHECK(rhs.interval() == 64) && CHECK(interval_after(64, 0.001) == 128) &&
         CHECK(interval_after(100, 0.001) == 128) && CHECK(interval_after(128, 0.03) == 128) &&
         CHECK(interval_after(128, 0.06) == 64) && CHECK(interval_after(64, 0.04) == 48) &&
         CHECK(interval_after(20, 1) == 16) && CHECK(interval_after(16, 1) == 16);
}

}  // namespace

std::vector<UnitCheck> bound_checks() {
  return {UNIT_CHECK(bound_is_that_of_chebyshev),
          UNIT_CHECK(looks_are_rare_and_at_ends_of_intervals),
          UNIT_CHECK(search_ends_far_beyond_what_the_shift_allows),
          UNIT_CHECK(residual_may_stand_where_the_matrix_is_ill_conditioned),
          UNIT_CHECK(updates_tell_stagnation_from_the_end_of_iterations),
          UNIT_CHECK(updates_are_as_far_apart_as_the_mismatch_allows)};
}

}  // namespace staghorn
