// Where all blocks of a kernel, on all ranks, meet and learn sums: a barrier that carries data, with as few passages
// through memory as can be.
//
//   1. A block adds its share of a sum to one of 32 cells of every rank. Two atomics add the share and count the block:
//      there is no ticket to wait for, and no block that passes sums on.
//   2. All blocks read the cells of their own rank until every block of all ranks is counted.
//
// Every block then computes the same scalars from the same sums, in shared memory, so no block needs to be told.
// Readers of one address wait for each other: one block a multiprocessor is as many as this bears.
#pragma once

#include "solver/krylov/cuda/cuda_scalars.cuh"

namespace staghorn::cuda {

struct RendezvousCell {
  std::uint64_t high, low;  // 11 bits that count blocks above 53 bits of a sum of shares
};
constexpr int count_shift = 53;
// The largest share that a block may add to `high`. Even max_blocks_of_cell such shares sum to less than `too_much`,
// which a block adds if its share overflowed.
constexpr long long most_of_block = 1LL << 40, too_much = 1LL << 46;
constexpr int max_blocks_of_cell = 63;

// The sums of one rendezvous, one for each right-hand side.
struct Rendezvous {
  RendezvousCell cells[max_rhs][32];
  unsigned taken[max_rhs];  // chunks of the step that ends with this rendezvous (dirac/kernels/cuda/cuda_walk.cuh)
};

// The rendezvous of a rank take turns. When all blocks have come to one of them, all have left the last but one, which
// is emptied then.
struct RendezvousRing {
  Rendezvous ring[4];
  std::uint64_t turns[max_peers];  // to which the first block of each rank has come

  __device__ Rendezvous& at(std::uint64_t turn) { return ring[turn % 4]; }
};

// Adds the share of this block, block `number` of its right-hand side, to the sum of every rank. Called by a warp with
// the share in lane 0, after a barrier of the block. What the block stored before is then visible to all blocks that
// wait on this GPU, and, if it `pushes`, to those on all other GPUs.
__device__ inline void arrive(const Scalars& s, RendezvousRing* const (&of_ranks)[max_peers], std::uint64_t turn,
                              int rhs, int number, BlockShare share, bool pushes) {
  const int lane = int(threadIdx.x) % 32;
  share.high = __shfl_sync(~0u, share.high, 0);
  share.low = __shfl_sync(~0u, share.low, 0);
  share.overflow = __shfl_sync(~0u, share.overflow, 0);
  if (lane >= s.n_ranks) return;
  pushes ? __threadfence_system() : __threadfence();
  constexpr std::uint64_t one_block = std::uint64_t{1} << count_shift;
  const bool fits = !share.overflow && share.high <= most_of_block;
  RendezvousRing& there = *of_ranks[lane];
  RendezvousCell& cell = there.at(turn).cells[rhs][number % 32];
  add_for_all(&cell.high, one_block + (fits ? std::uint64_t(share.high) : too_much));
  add_for_all(&cell.low, one_block + (fits ? std::uint64_t(share.low) : 0));
  if (number == 0) store_relaxed(&there.turns[s.rank], turn + 1);
}

// Waits for the shares of `blocks` blocks of each rank and returns their total, does_not_fit if any share did not.
// Called by a whole warp.
__device__ inline __int128 total_of_blocks(Scalars& s, RendezvousRing& here, std::uint64_t turn, int rhs, int blocks) {
  const int lane = int(threadIdx.x) % 32;
  const std::uint64_t expected = std::uint64_t(s.n_ranks * (blocks / 32 + (lane < blocks % 32)));
  Patience patience(s.wait_limits);
  std::uint64_t high, low;
  bool in_vain = false;
  do {
    load_relaxed_pair(&here.at(turn).cells[rhs][lane].high, high, low);
    in_vain = patience.ended();
  } while (!in_vain && (high >> count_shift != expected || low >> count_shift != expected));
  if (__any_sync(~0u, in_vain)) {
    const unsigned missing = __ballot_sync(~0u, lane < s.n_ranks && load_relaxed(&here.turns[lane]) <= turn);
    s.silent_rank = missing ? __ffs(int(missing)) - 1 : s.rank;
  }
  constexpr std::uint64_t without_count = (std::uint64_t{1} << count_shift) - 1;
  high &= without_count;
  low &= without_count;
  const bool fits = __all_sync(~0u, high < too_much);
  const __int128 total = warp_sum((static_cast<__int128>(high) << 42) + low);
  return fits ? total : does_not_fit;
}

// Puts the sum of a step, over all blocks and ranks, into values[rhs]: rounded once, NaN if anything did not fit. Sets
// the bound of the next such sum. Called by a whole warp.
__device__ inline void take_sum(Scalars& s, RendezvousRing& here, std::uint64_t turn, int rhs, int blocks, CgStep step,
                                double* values) {
  const __int128 total = total_of_blocks(s, here, turn, rhs, blocks);
  s.n_ranks > 1 ? __threadfence_system() : __threadfence();
  if (threadIdx.x % 32 == 0) values[rhs] = rounded_sum(s.bound[step][rhs], total);
}

// Makes an old rendezvous ready for its next turn. Called by a whole block.
__device__ inline void clear_rendezvous(Rendezvous& old, int n_sums) {
  for (int k = int(threadIdx.x); k < n_sums * 32; k += int(blockDim.x)) old.cells[k / 32][k % 32] = {};
  if (threadIdx.x < max_rhs) old.taken[threadIdx.x] = 0;
}

}  // namespace staghorn::cuda
