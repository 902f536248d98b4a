// Where all blocks of a kernel, on all ranks, meet and learn sums: a barrier that carries data, made of as few passages
// through memory as can be.
//
//   1. A block adds its share of a sum to one of 32 cells, by two atomics that also count it: no ticket to wait for.
//   2. On one rank all blocks read the cells until every block is counted. Between ranks block 0 alone does, and mails
//      the total to every rank; all blocks wait for the mail of all.
//
// Every block then computes the same scalars from the same sums, in shared memory; none needs to be told. The readers
// of one place wait for each other: one block a multiprocessor is as many as this bears (32 x 16 x 16 x 16 in fp32 on
// one H200: 34 us an iteration with 512 blocks).
#pragma once

#include "solver/cuda_scalars.cuh"

namespace staghorn::cuda {

struct MeetingCell {
  std::uint64_t high, low;  // 11 bits that count blocks above 53 bits of a sum of shares
};
constexpr int count_shift = 53;
constexpr int max_blocks = 2047;
// What a block may add to `high`, 64 of which stay below what a block adds whose share does not fit.
constexpr long long most_of_block = 1LL << 40, too_much = 1LL << 46;

// The sums of one meeting: one or two for each right-hand side, at [k n_rhs + rhs].
struct Meeting {
  MeetingCell cells[2 * max_rhs][32];
  unsigned taken[max_rhs];  // chunks of the phase that ends with this meeting (dirac/cuda_walk.cuh)
};

// Meetings take turns in a ring: all have left the last but one when all have come to this one, which empties it.
constexpr int meetings = 4;

// The share of this block, the number-th of its right-hand side, in a sum. Called by one thread, after a barrier of the
// block and a fence: what the block stored before is seen by all who wait.
__device__ inline void arrive(MeetingCell (&cells)[32], int number, const BlockShare& share) {
  constexpr std::uint64_t one_block = std::uint64_t{1} << count_shift;
  const bool fits = !share.overflow && share.high <= most_of_block;
  MeetingCell& cell = cells[number % 32];
  atomicAdd(reinterpret_cast<unsigned long long*>(&cell.high),
            one_block + (fits ? std::uint64_t(share.high) : too_much));
  atomicAdd(reinterpret_cast<unsigned long long*>(&cell.low), one_block + (fits ? std::uint64_t(share.low) : 0));
}

// The total of `blocks` blocks, waited for; does_not_fit if any share did not. Called by a whole warp.
__device__ inline __int128 total_of_blocks(Scalars& s, const MeetingCell (&cells)[32], int blocks) {
  const int lane = int(threadIdx.x) % 32;
  const std::uint64_t expected = std::uint64_t(blocks / 32 + (lane < blocks % 32));
  Patience patience(s.wait_limit_ns);
  std::uint64_t high, low;
  do {
    load_relaxed_pair(&cells[lane].high, high, low);
    if (patience.ended()) {
      s.silent_rank = s.rank;
      break;
    }
  } while (high >> count_shift != expected || low >> count_shift != expected);
  constexpr std::uint64_t sum = (std::uint64_t{1} << count_shift) - 1;
  high &= sum;
  low &= sum;
  const bool fits = __all_sync(~0u, high < too_much);
  const __int128 total = warp_sum((static_cast<__int128>(high) << 42) + low);
  return fits ? total : does_not_fit;
}

// The sum `phase` of all blocks and ranks into values[rhs], rounded once, NaN if anything did not fit; and the bound of
// the next. Called by a whole warp.
__device__ inline void take_sum(Scalars& s, const MeetingCell (&cells)[32], int blocks, Phase phase, int rhs,
                                double* values) {
  __int128 total = 0;
  if (s.n_ranks == 1) {
    total = total_of_blocks(s, cells, blocks);
    __threadfence();
  } else {
    if (blockIdx.x == 0) {
      total = total_of_blocks(s, cells, blocks);
      __threadfence_system();
      mail_total(s, phase, rhs, total);
    }
    total = collect_totals(s, phase, rhs);
    __threadfence_system();
  }
  if (threadIdx.x % 32 == 0) values[rhs] = rounded_sum(s.bound[phase][rhs], total);
}

// Makes an old meeting ready for its next turn. Called by a whole block.
__device__ inline void clear_meeting(Meeting& meeting, int n_sums) {
  for (int k = int(threadIdx.x); k < n_sums * 32; k += int(blockDim.x)) meeting.cells[k / 32][k % 32] = {};
  if (threadIdx.x < max_rhs) meeting.taken[threadIdx.x] = 0;
}

}  // namespace staghorn::cuda
