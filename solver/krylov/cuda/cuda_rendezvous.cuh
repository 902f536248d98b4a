// Where all blocks of a kernel, on all ranks, meet and learn sums: a barrier that carries data, made of as few passages
// through memory as can be.
//
//   1. A block adds its share of a sum to one of 32 cells of every rank, by two atomics that also count it: there is no
//      ticket to wait for, and nobody who passes sums on.
//   2. All blocks read the cells of their own rank until every block of all ranks is counted.
//
// Every block then computes the same scalars from the same sums, in shared memory; none needs to be told. The readers
// of one place wait for each other: one block a multiprocessor is as many as this bears (32 x 16 x 16 x 16 in fp32 on
// one H200: 34 us an iteration with 512 blocks).
#pragma once

#include "solver/krylov/cuda/cuda_scalars.cuh"

namespace staghorn::cuda {

struct MeetingCell {
  std::uint64_t high, low;  // 11 bits that count blocks above 53 bits of a sum of shares
};
constexpr int count_shift = 53;
// What a block may add to `high`, as many of which as add to a cell stay below what a block adds whose share does not
// fit.
constexpr long long most_of_block = 1LL << 40, too_much = 1LL << 46;
constexpr int max_blocks_of_cell = 63;

// The sums of one meeting, one for each right-hand side.
struct Meeting {
  MeetingCell cells[max_rhs][32];
  unsigned taken[max_rhs];  // chunks of the phase that ends with this meeting (dirac/kernels/cuda/cuda_walk.cuh)
};

// Those of a rank. Meetings take turns in a ring: all have left the last but one when all have come to this one, which
// empties it.
struct Meetings {
  Meeting ring[4];
  std::uint64_t turns[max_peers];  // to which the first block of each rank has come

  __device__ Meeting& at(std::uint64_t turn) { return ring[turn % 4]; }
};

// Adds the share of this block, the number-th of its right-hand side, to the sum of every rank. Called by a warp with
// the share in lane 0, after a barrier of the block: what the block stored before is seen by all who wait on this GPU,
// and by all others if it `pushes`.
__device__ inline void arrive(const Scalars& s, Meetings* const (&of_ranks)[max_peers], std::uint64_t turn, int rhs,
                              int number, BlockShare share, bool pushes) {
  const int lane = int(threadIdx.x) % 32;
  share.high = __shfl_sync(~0u, share.high, 0);
  share.low = __shfl_sync(~0u, share.low, 0);
  share.overflow = __shfl_sync(~0u, share.overflow, 0);
  if (lane >= s.n_ranks) return;
  pushes ? __threadfence_system() : __threadfence();
  constexpr std::uint64_t one_block = std::uint64_t{1} << count_shift;
  const bool fits = !share.overflow && share.high <= most_of_block;
  Meetings& there = *of_ranks[lane];
  MeetingCell& cell = there.at(turn).cells[rhs][number % 32];
  add_for_all(&cell.high, one_block + (fits ? std::uint64_t(share.high) : too_much));
  add_for_all(&cell.low, one_block + (fits ? std::uint64_t(share.low) : 0));
  if (number == 0) store_relaxed(&there.turns[s.rank], turn + 1);
}

// The total of `blocks` blocks of each rank, waited for; does_not_fit if any share did not. Called by a whole warp.
__device__ inline __int128 total_of_blocks(Scalars& s, Meetings& here, std::uint64_t turn, int rhs, int blocks) {
  const int lane = int(threadIdx.x) % 32;
  const std::uint64_t expected = std::uint64_t(s.n_ranks * (blocks / 32 + (lane < blocks % 32)));
  Patience patience(s.wait_limit_ns);
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

// The sum `phase` of all blocks and ranks into values[rhs], rounded once, NaN if anything did not fit; and the bound of
// the next. Called by a whole warp.
__device__ inline void take_sum(Scalars& s, Meetings& here, std::uint64_t turn, int rhs, int blocks, Phase phase,
                                double* values) {
  const __int128 total = total_of_blocks(s, here, turn, rhs, blocks);
  s.n_ranks > 1 ? __threadfence_system() : __threadfence();
  if (threadIdx.x % 32 == 0) values[rhs] = rounded_sum(s.bound[phase][rhs], total);
}

// Makes an old meeting ready for its next turn. Called by a whole block.
__device__ inline void clear_meeting(Meeting& meeting, int n_sums) {
  for (int k = int(threadIdx.x); k < n_sums * 32; k += int(blockDim.x)) meeting.cells[k / 32][k % 32] = {};
  if (threadIdx.x < max_rhs) meeting.taken[threadIdx.x] = 0;
}

}  // namespace staghorn::cuda
