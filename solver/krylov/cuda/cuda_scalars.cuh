// The scalars of CG on the device, and the formulas that follow from the sums of each step.
#pragma once

#include <cstddef>

#include "dirac/kernels/cuda/cuda_hop.cuh"
#include "halo/transport/peer_memory.hpp"
#include "solver/krylov/cg_recurrences.hpp"
#include "solver/krylov/cuda/cuda_mailbox.cuh"
#include "solver/krylov/stop_rule.hpp"

namespace staghorn::cuda {

enum CgStep { hop_step, residual_step, direction_step, n_steps };

constexpr int max_peers = most_peers;  // more ranks are refused by peer_obstacle

constexpr std::size_t mail_bytes = sizeof(Mail) * n_steps * max_rhs * max_peers;  // bytes of a mailbox

// Everything that CG remembers besides vectors, on the device. Arrays have one entry for each right-hand side.
struct Scalars {
  double alpha[max_rhs], beta[max_rhs], r2[max_rhs], p2[max_rhs], target[max_rhs], smallest[max_rhs];
  double bound[n_steps][max_rhs];  // bounds of the sums
  PendingSolution pending;
  long long iterations[max_rhs], since_smallest[max_rhs], most_iterations[max_rhs];  // of this loop
  int stagnation_window[max_rhs];                                                    // 64 bits would be spilled
  CgOutcome outcome[max_rhs];
  bool active[max_rhs];
  double* history;  // [iteration][rhs] |r|^2
  double* steps;    // [iteration][rhs] alpha
  double shift;
  long long iteration, max_iterations;  // iteration: how many iterations have ended
  int n_rhs, least_active;              // the loop ends when fewer right-hand sides are active
  unsigned finished_blocks[n_steps];
  int done;

  // Sums over ranks.
  int n_ranks, rank;
  Mail* mailbox[max_peers];  // one for each rank, with places [step][rhs][from rank]
  std::uint32_t first_tag;
  WaitLimits wait_limits;
  int silent_rank;  // a rank that did not answer within the limits, else -1

  // The host does not look at what follows.
  SumCell cells[n_steps][max_rhs * cells_per_sum];
  unsigned taken[n_steps][max_rhs];  // chunks that blocks have taken (dirac/kernels/cuda/cuda_walk.cuh)
};

// SumGrid::for_bound(value 2^20).bound: the smallest power of two that is not below value 2^20.
__device__ inline double sum_bound(double value) {
  const double largest = value * 0x1p20;
  long long bits = __double_as_longlong(largest);
  if (bits & ((1LL << 52) - 1)) bits += 1LL << 52;
  const long long exponent = min(max((bits >> 52) - 1023, -900LL), 960LL);
  return __longlong_as_double((exponent + 1023) << 52);
}

// Returns the value of a sum, NaN if it did not fit. Sets the bound of the next such sum.
__device__ inline double rounded_sum(double& bound, __int128 total) {
  if (total == does_not_fit) return __longlong_as_double(0x7ff8000000000000LL);
  const double value = static_cast<double>(total) * (bound * 0x1p-84);
  if (value > 0) bound = sum_bound(value);
  return value;
}

// After the hop: alpha = |r|^2 / (p, A p).
__device__ inline void finish_hop(Scalars& s, int i, double tmp2) {
  const double p_A_p = p_dot_A_p(s.shift, s.p2[i], tmp2);
  if (s.active[i] && is_breakdown(p_A_p)) {
    s.outcome[i] = CgOutcome::breakdown;
    s.active[i] = false;
  }
  s.alpha[i] = s.active[i] ? s.r2[i] / p_A_p : 0;
  s.pending.before_residual(i, s.iteration + 1, s.alpha[i]);
}

// Applies the stop rule to |r|^2 of this iteration. The block that is `historian` writes |r|^2 down.
__device__ inline void apply_stop_rule(Scalars& s, int i, bool historian) {
  if (!s.active[i]) return;
  const double r2 = s.r2[i];
  ++s.iterations[i];
  if (historian) {
    s.history[s.iterations[i] * s.n_rhs + i] = r2;
    s.steps[s.iterations[i] * s.n_rhs + i] = s.alpha[i];
  }
  if (is_done<long long>(r2, s.target[i], s.stagnation_window[i], s.smallest[i], s.since_smallest[i], s.outcome[i]) ||
      s.iterations[i] >= s.most_iterations[i])
    s.active[i] = false;
}

// After the residual update: ends the iteration. Called by all threads of a block; thread i takes right-hand side i.
__device__ inline void finish_residual(Scalars& s, const double* r2, bool historian) {
  const int i = int(threadIdx.x);
  if (i < s.n_rhs) {
    s.beta[i] = s.active[i] ? r2[i] / s.r2[i] : 0;
    s.r2[i] = r2[i];
    s.p2[i] = next_direction_norm2(r2[i], s.beta[i], s.p2[i]);
    s.bound[direction_step][i] = sum_bound(s.p2[i] > 0 ? s.p2[i] : 1);  // as sum_near has it
    apply_stop_rule(s, i, historian);
  }
  const int n_active = __syncthreads_count(i < s.n_rhs && s.active[i]);
  if (i == 0) {
    ++s.iteration;
    s.done = n_active < s.least_active || s.iteration >= s.max_iterations;
  }
}

}  // namespace staghorn::cuda
