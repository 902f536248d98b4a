#include "solver/krylov/shifts/multi_shift.hpp"

#include "halo/watch/activity.hpp"
#include "solver/krylov/cg_recurrences.hpp"
#include "solver/krylov/running_rhs.hpp"
#include "solver/krylov/shifts/shifted_rhs.hpp"

namespace staghorn {

namespace {

constexpr double goes_on = -1;  // a target that no residual meets

}  // namespace

MultiShiftCg::MultiShiftCg(StaggeredOperator& d, int n_shifts)
    : d_(d), seed_x_(d.make_vector()), work_(d), shifted_(d, n_shifts - 1) {}

// The loop of CG (conjugate_gradient.cpp) on the seed, and after each residual update a step of every shift that is not
// done. Memory moved for each iteration and site of the parity, besides that of CG, in groups of max_shifted_steps = 4
// iterations: 6 reals of each active shift (x, x, p, p in every fourth iteration), and 15 for the residuals of a group.
ShiftedResult MultiShiftCg::solve(Parity parity, std::span<const double> shifts, const ColorVectorField& b,
                                  const ShiftedStop& stop, const ShowProgress& show) {
  const Activity activity("multi-shift CG iterations");
  const Parity other = opposite(parity);
  const double shift = shifts[0];
  auto& [r, p, tmp, unused] = work_;
  ColorVectorField& x = seed_x_;
  x.set_zero();
  r.copy_from(b);
  p.copy_from(b);
  shifted_.begin(r);

  std::vector<ExactSum> sums(stop.target_norm[0].size(), ExactSum(1));
  std::vector<double> r2 = d_.norm2(r, sums), p2 = r2;
  ShiftedRhs shifted(shifts, stop.target_norm, r2);
  CgStop of_seed;  // the seed's own target counts once all shifts of the right-hand side are done
  of_seed.max_iterations = stop.max_iterations;
  of_seed.stagnation_window = stop.stagnation_window;
  of_seed.interrupted = stop.interrupted;
  const auto set_targets = [&] {
    for (std::size_t i = 0; i < r2.size(); ++i)
      of_seed.target_norm[i] = shifted.all_done(i) ? stop.target_norm[0][i] : goes_on;
  };
  of_seed.target_norm.resize(r2.size());
  set_targets();
  RunningRhs running(r2, of_seed);

  std::vector<ExactSum> hop_sums = sums_near(p2), residual_sums = sums_near(r2);
  PendingSolution pending;
  std::vector<double> alpha, beta, alpha_before, beta_before;
  const auto move_on = [&] {
    std::vector<ExactSum> direction_sums = sums_near(p2);
    p2 = d_.update_direction(x, p, r, parity, {pending.waiting, r2.size()}, beta, direction_sums);
  };
  long iteration = 1;
  for (; running.go_on(iteration); ++iteration) {
    const bool given = cg_direction_is_given(iteration);
    if (given && iteration > 1) move_on();
    std::vector<double> p_A_p =
        given ? d_.hop_and_norm2(tmp, p, other, hop_sums) : d_.hop_and_norm2(tmp, r, other, hop_sums, beta);
    for (std::size_t i = 0; i < p2.size(); ++i) p_A_p[i] = p_dot_A_p(shift, p2[i], p_A_p[i]);
    alpha_before = alpha;
    alpha = running.alpha(r2, p_A_p);
    for (std::size_t i = 0; i < p2.size(); ++i) pending.before_residual(int(i), iteration, alpha[i]);
    const std::vector<double> r2_before = r2;
    r2 = d_.update_residual(r, p, x, tmp, parity, shift,
                            {alpha,
                             given ? std::span<const double>() : beta,
                             {pending.new_weight, r2.size()},
                             {pending.old_weight, r2.size()}},
                            residual_sums);
    beta_before = beta;
    beta = running.ratio(r2, r2_before);
    for (std::size_t i = 0; i < p2.size(); ++i) p2[i] = next_direction_norm2(r2[i], beta[i], p2[i]);
    // x_k += alpha_k p_k, p_k = zeta_k r + beta_k p_k
    shifted.advance(alpha, beta, r2, alpha_before, beta_before);
    shifted_.step(r, shifted.steps(), shifted.takes_part());
    set_targets();
    running.take_residuals(r2);
    if (show) show({iteration, std::max(running.worst_ratio(stop.target_norm[0]), shifted.worst_ratio())});
  }
  if (!beta.empty()) move_on();
  shifted_.finish();
  ShiftedResult result{shifted.results(running.results()), iteration - 1, LoopForm::host};
  return result;
}

}  // namespace staghorn
