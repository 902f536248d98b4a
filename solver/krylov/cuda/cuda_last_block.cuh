// The scalars of two kernels an iteration: the last block of each kernel computes them once all its sums are complete.
//
// Where faces go straight into the ghosts of other ranks, that block also adds the sums of all ranks: it mails this
// rank's total to every rank and waits for the totals of the others. So the kernel ends on all ranks together: the sum
// is the barrier that makes the faces stored by this kernel safe to read in the next, and ghosts safe to be written
// again. After kernels that do not call it (hops of improved quarks) it is a kernel of its own.
#pragma once

#include "solver/krylov/cuda/cuda_scalars.cuh"

namespace staghorn::cuda {

__device__ inline Mail& mail_slot(const Scalars& s, int to, int from, CgStep step, int rhs) {
  return s.mailbox[to][(step * max_rhs + rhs) * max_peers + from];
}

// Mails this rank's total to every rank. Called by a whole warp.
__device__ inline void mail_total(const Scalars& s, CgStep step, int rhs, __int128 total) {
  const int lane = int(threadIdx.x) % 32;
  if (lane < s.n_ranks) post(mail_slot(s, lane, s.rank, step, rhs), total, s.first_tag + std::uint32_t(s.iteration));
}

// Waits for the totals of all ranks and returns their sum, does_not_fit if any total did not fit. Called by a whole
// warp.
__device__ inline __int128 collect_totals(Scalars& s, CgStep step, int rhs) {
  const int lane = int(threadIdx.x) % 32;
  __int128 total = 0;
  if (lane < s.n_ranks) {
    const Mail& mail = mail_slot(s, s.rank, lane, step, rhs);
    Patience patience(s.wait_limits);
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

// Puts the sums of a step into values[rhs]: rounded once, NaN if anything did not fit. Clears the cells for the next
// iteration. Called by all threads of a block.
__device__ inline void take_sums(Scalars& s, CgStep step, double* values) {
  const int lane = int(threadIdx.x) % 32;
  for (int rhs = int(threadIdx.x) / 32; rhs < s.n_rhs; rhs += int(blockDim.x) / 32) {
    __int128 total = 0;
    bool fits = true;
    if (lane < cells_per_sum) {
      SumCell& cell = s.cells[step][rhs * cells_per_sum + lane];
      total = (static_cast<__int128>(__ldcg(&cell.high)) << 42) + __ldcg(&cell.low);
      fits = __ldcg(&cell.overflow) == 0;
      cell = SumCell{};
    }
    total = warp_sum(total);
    if (!__all_sync(~0u, fits)) total = does_not_fit;
    if (s.n_ranks > 1) {
      mail_total(s, step, rhs, total);
      total = collect_totals(s, step, rhs);
    }
    if (lane == 0) values[rhs] = rounded_sum(s.bound[step][rhs], total);
  }
}

// Computes what follows from the sums of a step, which are complete in its cells. Called by all threads of a block.
template <CgStep step>
__device__ void finish_step(Scalars& s) {
  __shared__ double sums[max_rhs];
  take_sums(s, step, sums);
  __syncthreads();
  const int i = int(threadIdx.x);
  if constexpr (step == residual_step) {
    finish_residual(s, sums, true);
  } else if (i < s.n_rhs) {
    if constexpr (step == hop_step) finish_hop(s, i, sums[i]);
    if constexpr (step == direction_step) s.p2[i] = sums[i];
  }
  if (i == 0 && s.silent_rank >= 0) s.done = 1;
}

template <CgStep step>
struct LastBlock;
template <CgStep step>
__global__ void last_block_kernel(LastBlock<step> last_block);

// What runs at the end of each kernel: the last block to finish computes the scalars.
template <CgStep step>
struct LastBlock {
  static constexpr bool takes_chunks = true;
  static constexpr int threads_of_kernel = 128;
  Scalars* scalars;
  bool several_ranks;

  __device__ bool done() const { return __ldcg(&scalars->done) != 0; }
  const int* flag() const { return &scalars->done; }
  void as_kernel(cudaStream_t stream) const {
    last_block_kernel<step><<<1, threads_of_kernel, 0, stream>>>(*this);
    STAGHORN_CUDA_CHECK_LAUNCH(last_block_kernel);
  }

  __device__ void operator()() const {
    __shared__ bool last;
    Scalars& s = *scalars;
    if (threadIdx.x == 0) {
      several_ranks ? __threadfence_system() : __threadfence();
      last = atomicAdd(&s.finished_blocks[step], 1u) == gridDim.x * gridDim.y - 1;
    }
    __syncthreads();
    if (!last) return;
    several_ranks ? __threadfence_system() : __threadfence();
    finish_step<step>(s);
    if (threadIdx.x < max_rhs) s.taken[step][threadIdx.x] = 0;
    if (threadIdx.x == 0) {
      s.finished_blocks[step] = 0;
      if (several_ranks) __threadfence_system();  // orders what other ranks stored before what the next kernel reads
    }
  }
};

template <CgStep step>
__global__ void __launch_bounds__(LastBlock<step>::threads_of_kernel) last_block_kernel(LastBlock<step> last_block) {
  if (!last_block.done()) last_block();
}

}  // namespace staghorn::cuda
