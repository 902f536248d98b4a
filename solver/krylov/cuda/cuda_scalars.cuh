// The scalars of CG on the device, and what computes them: the last block of each kernel, when all its sums are
// complete.
//
// Where faces go straight into the ghosts of other ranks, that block also adds the sums of all ranks: it mails this
// rank's total to every rank and waits for theirs, which ends the kernel on all ranks together. So the sum is the
// barrier that makes faces stored by this kernel safe to read in the next, and ghosts safe to be written again.
#pragma once

#include <cstddef>

#include "dirac/kernels/cuda/cuda_hop.cuh"
#include "halo/cuda/cuda_wait.cuh"
#include "solver/krylov/cg_recurrences.hpp"
#include "solver/krylov/conjugate_gradient.hpp"

namespace staghorn::cuda {

enum Phase { hop_phase, residual_phase, direction_phase, n_phases };

constexpr int max_peers = 16;

// A total on its way: words of 32 bits of data below 32 of tag, which no fence need order.
struct alignas(32) Mail {
  std::uint64_t word[4];
};
constexpr std::size_t mail_bytes = sizeof(Mail) * n_phases * max_rhs * max_peers;  // of a mailbox

// Everything that CG remembers besides vectors; one array entry per right-hand side. Lives on the device.
struct Scalars {
  double alpha[max_rhs], beta[max_rhs], r2[max_rhs], p2[max_rhs], target[max_rhs], smallest[max_rhs];
  double bound[n_phases][max_rhs];  // of the sums
  PendingSolution pending;
  long long iterations[max_rhs], since_smallest[max_rhs];
  CgOutcome outcome[max_rhs];
  bool active[max_rhs];
  double* history;  // [iteration][rhs] |r|^2
  double four_m2;
  long long iteration, max_iterations, stagnation_window;  // iteration: how many have ended
  int n_rhs, least_active;                                 // the loop ends when fewer are active
  unsigned finished_blocks[n_phases];
  int done;

  // Sums over ranks.
  int n_ranks, rank;
  Mail* mailbox[max_peers];  // of every rank: [phase][rhs][from rank]
  std::uint32_t first_tag;
  long long wait_limit_ns;
  int silent_rank;  // one that did not answer in time, else -1

  // From here on the host does not look.
  SumCell cells[n_phases][max_rhs * cells_per_sum];
  unsigned taken[n_phases][max_rhs];  // chunks (dirac/kernels/cuda/cuda_walk.cuh)
};

// SumGrid::for_bound(value 2^20).bound: the smallest power of two that is not below, as bits.
__device__ inline double sum_bound(double value) {
  const double largest = value * 0x1p20;
  long long bits = __double_as_longlong(largest);
  if (bits & ((1LL << 52) - 1)) bits += 1LL << 52;
  const long long exponent = min(max((bits >> 52) - 1023, -900LL), 960LL);
  return __longlong_as_double((exponent + 1023) << 52);
}

// The sum over all lanes of a warp, in every lane.
__device__ inline __int128 warp_sum(__int128 value) {
#pragma unroll
  for (int step = 16; step > 0; step /= 2) {
    const unsigned long long low = __shfl_xor_sync(~0u, (unsigned long long)value, step);
    const long long high = __shfl_xor_sync(~0u, (long long)(value >> 64), step);
    value += (static_cast<__int128>(high) << 64) + low;
  }
  return value;
}

constexpr __int128 does_not_fit = static_cast<__int128>(1) << 126;  // mailed instead of a total

__device__ inline void post(Mail& mail, __int128 total, std::uint32_t tag) {
#pragma unroll
  for (int k = 0; k < 4; ++k) store_relaxed(mail.word + k, std::uint32_t(total >> (32 * k)) | std::uint64_t{tag} << 32);
}

// Whether a total with this tag is there; all words are looked at together, since each look takes its time.
__device__ inline bool received(const Mail& mail, std::uint32_t tag, __int128& total) {
  std::uint64_t word[4];
  load_relaxed_pair(mail.word, word[0], word[1]);
  load_relaxed_pair(mail.word + 2, word[2], word[3]);
  total = 0;
  bool all = true;
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    all = all && word[k] >> 32 == tag;
    total |= static_cast<__int128>(word[k] & 0xffffffffu) << (32 * k);
  }
  return all;
}

__device__ inline Mail& mail_slot(const Scalars& s, int to, int from, Phase phase, int rhs) {
  return s.mailbox[to][(phase * max_rhs + rhs) * max_peers + from];
}

// Mails this rank's total to every rank. Called by a whole warp.
__device__ inline void mail_total(const Scalars& s, Phase phase, int rhs, __int128 total) {
  const int lane = int(threadIdx.x) % 32;
  if (lane < s.n_ranks) post(mail_slot(s, lane, s.rank, phase, rhs), total, s.first_tag + std::uint32_t(s.iteration));
}

// The sum of the totals that all ranks mailed, waited for; does_not_fit if any did not. Called by a whole warp.
__device__ inline __int128 collect_totals(Scalars& s, Phase phase, int rhs) {
  const int lane = int(threadIdx.x) % 32;
  __int128 total = 0;
  if (lane < s.n_ranks) {
    const Mail& mail = mail_slot(s, s.rank, lane, phase, rhs);
    Patience patience(s.wait_limit_ns);
    while (!received(mail, s.first_tag + std::uint32_t(s.iteration), total))
      if (patience.ended()) {
        s.silent_rank = lane;
        break;
      }
  }
  const bool fits = __all_sync(~0u, total != does_not_fit);
  total = warp_sum(total);
  return fits ? total : does_not_fit;
}

// The value of a sum, NaN if it does not fit, and the bound of the next.
__device__ inline double rounded_sum(double& bound, __int128 total) {
  if (total == does_not_fit) return __longlong_as_double(0x7ff8000000000000LL);
  const double value = static_cast<double>(total) * (bound * 0x1p-84);
  if (value > 0) bound = sum_bound(value);
  return value;
}

// The sums of a phase into values[rhs], rounded once; NaN if anything did not fit. Cells are cleared for the next
// iteration. Called by all threads of a block.
__device__ inline void take_sums(Scalars& s, Phase phase, double* values) {
  const int lane = int(threadIdx.x) % 32;
  for (int rhs = int(threadIdx.x) / 32; rhs < s.n_rhs; rhs += int(blockDim.x) / 32) {
    __int128 total = 0;
    bool fits = true;
    if (lane < cells_per_sum) {
      SumCell& cell = s.cells[phase][rhs * cells_per_sum + lane];
      total = (static_cast<__int128>(__ldcg(&cell.high)) << 42) + __ldcg(&cell.low);
      fits = __ldcg(&cell.overflow) == 0;
      cell = SumCell{};
    }
    total = warp_sum(total);
    if (!__all_sync(~0u, fits)) total = does_not_fit;
    if (s.n_ranks > 1) {
      mail_total(s, phase, rhs, total);
      total = collect_totals(s, phase, rhs);
    }
    if (lane == 0) values[rhs] = rounded_sum(s.bound[phase][rhs], total);
  }
}

__device__ inline void finish_hop(Scalars& s, int i, double tmp2) {
  const double p_A_p = s.four_m2 * s.p2[i] + tmp2;
  if (s.active[i] && !(p_A_p > 0)) {
    s.outcome[i] = CgOutcome::breakdown;
    s.active[i] = false;
  }
  s.alpha[i] = s.active[i] ? s.r2[i] / p_A_p : 0;
  s.pending.before_residual(i, s.iteration + 1, s.alpha[i]);
}

// Whether this right-hand side is done, in an iteration that has found |r|^2; `historian` writes it down.
__device__ inline void judge(Scalars& s, int i, bool historian) {
  if (!s.active[i]) return;
  const double r2 = s.r2[i], norm = sqrt(r2);
  ++s.iterations[i];
  if (historian) s.history[s.iterations[i] * s.n_rhs + i] = r2;
  const auto end = [&](CgOutcome outcome) {
    s.outcome[i] = outcome;
    s.active[i] = false;
  };
  if (!isfinite(r2)) return end(CgOutcome::breakdown);
  if (norm <= s.target[i]) return end(CgOutcome::converged);
  if (r2 < s.smallest[i]) {
    s.smallest[i] = r2;
    s.since_smallest[i] = 0;
  } else if (++s.since_smallest[i] >= s.stagnation_window && s.stagnation_window > 0) {
    end(CgOutcome::stagnated);
  }
}

// Ends the iteration. Called by all threads of a block, i-th for right-hand side i, with the sum there.
__device__ inline void finish_residual(Scalars& s, const double* r2, bool historian) {
  const int i = int(threadIdx.x);
  if (i < s.n_rhs) {
    s.beta[i] = s.active[i] ? r2[i] / s.r2[i] : 0;
    s.r2[i] = r2[i];
    s.p2[i] = next_direction_norm2(r2[i], s.beta[i], s.p2[i]);
    s.bound[direction_phase][i] = sum_bound(s.p2[i] > 0 ? s.p2[i] : 1);  // as sum_near
    judge(s, i, historian);
  }
  const int n_active = __syncthreads_count(i < s.n_rhs && s.active[i]);
  if (i == 0) {
    ++s.iteration;
    s.done = n_active < s.least_active || s.iteration >= s.max_iterations;
  }
}

// What follows from the sums of a phase, all of which are in its cells. Called by all threads of a block.
template <Phase phase>
__device__ void finish_phase(Scalars& s) {
  __shared__ double sums[max_rhs];
  take_sums(s, phase, sums);
  __syncthreads();
  const int i = int(threadIdx.x);
  if constexpr (phase == residual_phase) {
    finish_residual(s, sums, true);
  } else if (i < s.n_rhs) {
    if constexpr (phase == hop_phase) finish_hop(s, i, sums[i]);
    if constexpr (phase == direction_phase) s.p2[i] = sums[i];
  }
  if (i == 0 && s.silent_rank >= 0) s.done = 1;
}

// What runs at the end of each kernel: the last block to finish computes the scalars.
template <Phase phase>
struct LastBlock {
  static constexpr bool takes_chunks = true;
  Scalars* scalars;
  bool several_ranks;

  __device__ bool done() const { return __ldcg(&scalars->done) != 0; }

  __device__ void operator()() const {
    __shared__ bool last;
    Scalars& s = *scalars;
    if (threadIdx.x == 0) {
      several_ranks ? __threadfence_system() : __threadfence();
      last = atomicAdd(&s.finished_blocks[phase], 1u) == gridDim.x * gridDim.y - 1;
    }
    __syncthreads();
    if (!last) return;
    several_ranks ? __threadfence_system() : __threadfence();
    finish_phase<phase>(s);
    if (threadIdx.x < max_rhs) s.taken[phase][threadIdx.x] = 0;
    if (threadIdx.x == 0) {
      s.finished_blocks[phase] = 0;
      if (several_ranks) __threadfence_system();  // what the others stored, before what the next kernel reads
    }
  }
};

}  // namespace staghorn::cuda
