#include "solver/krylov/shifts/multi_shift.hpp"

#include <algorithm>
#include <cmath>

#include "halo/watch/activity.hpp"
#include "solver/krylov/cg_recurrences.hpp"
#include "solver/krylov/shifts/shifted_rhs.hpp"

namespace staghorn {

namespace {

static_assert(cg_refresh_interval % max_shifted_steps == 0);

constexpr double goes_on = -1;  // a target that no residual meets

}  // namespace

MultiShiftCg::MultiShiftCg(StaggeredOperator& d, int n_shifts)
    : d_(d), seed_x_(d.make_vector()), work_(d), shifted_(d, n_shifts - 1) {}

// The loop of CG on the seed, and after each residual update a step of every shift that is not done. Memory moved for
// each iteration and site of the parity, besides that of CG, in groups of max_shifted_steps = 4 iterations: 6 reals of
// each active shift (x, x, p, p in every fourth iteration), and 15 for the residuals of a group.
ShiftedResult MultiShiftCg::solve(Parity parity, std::span<const double> shifts, const ColorVectorField& b,
                                  const ShiftedStop& stop, const ShowProgress& show) {
  const Activity activity("multi-shift CG");
  auto& [r, p, tmp, unused] = work_;
  seed_x_.set_zero();
  r.copy_from(b);
  p.copy_from(b);
  shifted_.begin(r);

  std::vector<ExactSum> sums(stop.target_norm[0].size(), ExactSum(1));
  const std::vector<double> b2 = d_.norm2(r, sums);
  ShiftedRhs shifted(shifts, stop, b2);
  CgStop of_seed;  // the seed's own target counts once all shifts of the right-hand side are done
  of_seed.max_iterations = stop.max_iterations;
  of_seed.stagnation_window = stop.stagnation_window;
  of_seed.interrupted = stop.interrupted;
  of_seed.keeper = stop.keeper;
  of_seed.target_norm.resize(b2.size());
  const auto set_targets = [&] {
    for (std::size_t i = 0; i < b2.size(); ++i)
      of_seed.target_norm[i] = shifted.all_done(i) ? shifted.target_of_seed(i) : goes_on;
  };

  double worst_ratio = 0;
  std::vector<double> alpha_before, beta_before;
  LoopMemory memory;
  CgState state{seed_x_, r, p, tmp, b2, b2, nullptr, &memory};
  SearchState kept{{&seed_x_, &r, &p}, {}};
  for (ColorVectorField* const vector : shifted_.vectors()) kept.vectors.push_back(vector);
  if (const SearchNumbers* const resumed = stop.keeper ? stop.keeper->kept_numbers() : nullptr) {
    get_loop(*resumed, state);
    shifted.take_from(*resumed);
    alpha_before = get(*resumed, "shifts.alpha", b2.size());
    beta_before = get(*resumed, "shifts.beta", b2.size());
    stop.keeper->restore(kept.vectors);
  }
  set_targets();
  const auto step = [&](std::span<const double> alpha, std::span<const double> beta, std::span<const double> r2) {
    // x_k += alpha_k p_k, p_k = zeta_k r + beta_k p_k
    shifted.advance(alpha, beta, r2, alpha_before, beta_before);
    shifted_.step(r, shifted.steps(), shifted.takes_part());
    alpha_before.assign(alpha.begin(), alpha.end());
    beta_before.assign(beta.begin(), beta.end());
    set_targets();
    worst_ratio = shifted.worst_ratio();
    for (std::size_t i = 0; i < r2.size(); ++i)
      worst_ratio = std::max(worst_ratio, std::sqrt(r2[i]) / shifted.target_of_seed(i));
  };
  const auto show_all = [&](const CgProgress& at) { show({at.iteration, worst_ratio}); };
  CgResult seed;
  for (;;) {
    seed = loop_on_the_host({d_, parity, shifts[0]}, state, of_seed, show ? show_all : ShowProgress(), step);
    if (!memory.left) break;
    shifted_.finish();  // steps that wait are the last ones of all shifts: a loop is left after whole groups of them
    put_loop(kept.numbers, state);
    shifted.put_into(kept.numbers);
    kept.numbers["shifts.alpha"] = alpha_before;
    kept.numbers["shifts.beta"] = beta_before;
    stop.keeper->keep(kept);
  }
  shifted_.finish();

  ShiftedResult result{{}, 0, seed.form};
  for (const SolvedRhs& rhs : seed.rhs) result.iterations = std::max(result.iterations, rhs.iterations);
  result.shift = shifted.results(std::move(seed.rhs));
  return result;
}

}  // namespace staghorn
