#include "solver/krylov/conjugate_gradient.hpp"

#include "halo/watch/activity.hpp"
#include "halo/watch/error.hpp"
#include "solver/krylov/cg_recurrences.hpp"
#include "solver/krylov/cuda_conjugate_gradient.hpp"
#include "solver/krylov/running_rhs.hpp"

namespace staghorn {

// Memory moved for each iteration and site of the parity: two passes over the links and 54 reals of vectors (hop: r,
// tmp, tmp; residual update: tmp, p, p, r, r, and in every second iteration x, x). One iteration of cg_refresh_interval
// moves 18 more.
CgResult loop_on_the_host(const ParitySystem& system, CgState& state, const CgStop& stop, const ShowProgress& show,
                          const AfterResidual& after_residual) {
  const Activity activity("CG iterations");
  const auto& [d, parity, shift] = system;
  auto& [x, r, p, tmp, r2, p2, unused, memory] = state;
  const Parity other = opposite(parity);
  std::vector<ExactSum> hop_sums = state.begun() ? sums_within(memory->hop_bounds) : sums_near(p2);
  std::vector<ExactSum> residual_sums = sums_near(r2);  // |D p|^2 <= 64 |p|^2
  PendingSolution pending;
  std::vector<double> beta;
  RunningRhs running = state.begun() ? RunningRhs(memory->rhs, stop, shift) : RunningRhs(r2, stop, shift);
  const long first = state.begun() ? memory->iterations + 1 : 1;
  long ended = first - 1;
  if (memory) memory->left = false;
  const auto update_direction = [&] {  // x += the alpha p that it lacks;  p = r + beta p
    std::vector<ExactSum> sums = sums_near(p2);
    p2 = d.update_direction(x, p, r, parity, {pending.waiting, r2.size()}, beta, sums);
  };

  for (long iteration = first; running.go_on(iteration); ++iteration) {
    const bool given = cg_direction_is_given(iteration);
    if (given && iteration > first) {
      update_direction();
      if (memory && stop.keeper && stop.keeper->is_due()) {
        memory->left = true;
        beta.clear();
        break;
      }
    }
    // tmp = D p, or D r + beta tmp, which is D p too;  alpha = (r, r) / (p, A p)
    std::vector<double> p_A_p =
        given ? d.hop_and_norm2(tmp, p, other, hop_sums) : d.hop_and_norm2(tmp, r, other, hop_sums, beta);
    for (std::size_t i = 0; i < p2.size(); ++i) p_A_p[i] = p_dot_A_p(shift, p2[i], p_A_p[i]);
    const std::vector<double> alpha = running.alpha(r2, p_A_p);
    for (std::size_t i = 0; i < p2.size(); ++i) pending.before_residual(int(i), iteration, alpha[i]);
    // p = r + beta p, unless it is given;  r -= alpha A p;  in even iterations x += what it lacks and alpha p
    const std::vector<double> r2_before = r2;
    r2 = d.update_residual(r, p, x, tmp, parity, shift,
                           {alpha,
                            given ? std::span<const double>() : beta,
                            {pending.new_weight, r2.size()},
                            {pending.old_weight, r2.size()}},
                           residual_sums);
    beta = running.ratio(r2, r2_before);
    for (std::size_t i = 0; i < p2.size(); ++i) p2[i] = next_direction_norm2(r2[i], beta[i], p2[i]);
    if (after_residual) after_residual(alpha, beta, r2);
    running.take_residuals(r2);
    ended = iteration;
    if (show) show(running.progress(iteration));
  }
  if (!beta.empty()) update_direction();
  if (memory) *memory = {memory->left, ended, bounds_of(hop_sums), running.memory()};
  return {running.results(), LoopForm::host, {}, nullptr};
}

CgResult conjugate_gradient_loop(const ParitySystem& system, CgState& state, const CgStop& stop,
                                 const ShowProgress& show) {
  return system.d.host_free() ? cuda_conjugate_gradient_loop(system, state, stop, show)
                              : loop_on_the_host(system, state, stop, show, {});
}

CgResult ConjugateGradient::solve(const ParitySystem& system, ColorVectorField& x, const ColorVectorField& b,
                                  const CgStop& stop, const ShowProgress& show) {
  auto& [r, p, tmp, loop] = work_;
  std::vector<ExactSum> sums = sums_of_sources(stop);
  r.copy_from(b);
  p.copy_from(b);
  const std::vector<double> r2 = system.d.norm2(r, sums);
  LoopMemory memory;
  CgState state{x, r, p, tmp, r2, r2, &loop, &memory};
  if (const Archive* const kept = stop.keeper ? stop.keeper->kept() : nullptr) {
    (*kept)("loop", state);
    stop.keeper->restore({&x, &r, &p});
  }
  return kept_loop(system, state, stop, show);
}

void CgState::visit(const Archive& archive) {
  const std::size_t n = r2.size();
  archive("r2", r2, n);
  archive("p2", p2, n);
  archive("hop_bounds", memory->hop_bounds, n);
  archive.count("iterations", memory->iterations);
  archive("rhs", memory->rhs, n);
}

CgResult kept_loop(const ParitySystem& system, CgState& state, const CgStop& stop, const ShowProgress& show,
                   const VisitState& more) {
  const auto visit = [&](const Archive& archive) {
    archive("loop", state);
    if (more) more(archive);
  };
  for (;;) {
    CgResult result = conjugate_gradient_loop(system, state, stop, show);
    if (!state.memory || !state.memory->left) return result;
    stop.keeper->keep({{&state.x, &state.r, &state.p}, visit});
  }
}

#ifndef STAGHORN_CUDA
CgResult cuda_conjugate_gradient_loop(const ParitySystem&, CgState&, const CgStop&, const ShowProgress&) {
  throw Error("this build of Staghorn has no CUDA code");
}
#endif

}  // namespace staghorn
