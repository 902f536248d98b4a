// How blocks go through the chunks of a range. They are dealt one chunk each in every round; in the last rounds a block
// takes the next chunk when it is free. Blocks drift apart by about the time of a round, so without this the memory
// would idle while the last blocks finish. In long walks they would drift apart by so many rounds that neighbours leave
// the second-level cache between their uses; there chunks are taken from the second round on (decision 025). Sums are
// exact, so it changes no bit which block takes which chunk.
#pragma once

#include <cuda_awbarrier_primitives.h>

#include <algorithm>
#include <climits>

#include "dirac/kernels/cuda/cuda_sites.cuh"
#include "dirac/kernels/cuda/cuda_sums.cuh"

namespace staghorn::cuda {

// A range that `stride` teams go through together.
struct SharedRange {
  ChunkRange chunks;
  int stride;
  int taken_from = INT_MAX;  // chunks before this one are dealt out in rounds; from it on they are taken
};

// In how many rounds chunks are taken. Two rounds gain 1 to 3 % of an iteration of CG, more of them no more; but of a
// walk of more than 32 rounds all are taken.
constexpr int taken_rounds = 2, most_dealt_rounds = 32;
constexpr int taken_by_length = -1;

// In the last `last_rounds` rounds, but never in the first, chunks are taken; taken_by_length: as above.
inline SharedRange share_range(const ChunkRange& chunks, int stride, int last_rounds = taken_by_length) {
  SharedRange shared{chunks, stride};
  const int rounds = (chunks.count + stride - 1) / stride;
  if (last_rounds == taken_by_length) last_rounds = rounds > most_dealt_rounds ? rounds : taken_rounds;
  if (last_rounds > 0 && rounds > 1) shared.taken_from = stride * std::max(1, rounds - last_rounds);
  return shared;
}

// The way of one team of `threads` threads through at most `most` chunks; a block has `teams` teams:
//   for (Walk<threads, teams, takes> at(range, first, taken); at.more(); at.advance()) ... at.chunk() ...
// takes: chunks of the last rounds are taken if the range says so; else all chunks are dealt out.
template <int threads, int teams, bool takes, int most = ThreadSum::few_contributions>
class Walk {
 public:
  // first: the team's chunk of the first round.  taken: the counter of chunks taken by all teams, 0 before the kernel;
  // it is not read where none are taken.
  __device__ __forceinline__ Walk(const SharedRange& range, int first, unsigned* taken)
      : range_(range), taken_(taken), chunk_(first) {}

  __device__ __forceinline__ bool more() const { return chunk_ < range_.chunks.count; }
  __device__ __forceinline__ int chunk() const { return chunk_; }

  // To be called before the first Walk of a block of several teams; a barrier of the block must follow.
  static __device__ __forceinline__ void prepare() {
    if constexpr (takes && teams > 1)
      if (threadIdx.x < teams) __mbarrier_init(&meeting(int(threadIdx.x)).barrier, threads / 32);
  }

  // All threads of the team must call.
  __device__ __forceinline__ void advance() {
    chunk_ += range_.stride;
    if (!takes || chunk_ < range_.taken_from) return;
    if constexpr (teams == 1) {
      __shared__ int next;
      __syncthreads();
      if (threadIdx.x == 0) next = take(), ++mine_;
      __syncthreads();
      chunk_ = next;
    } else {
      if (threadIdx.x % 32 == 0) {
        Meeting& here = meeting(int(threadIdx.x) / threads);
        if (threadIdx.x % threads == 0) here.next[mine_ % 2] = take();
        const __mbarrier_token_t token = __mbarrier_arrive(&here.barrier);
        while (!__mbarrier_test_wait(&here.barrier, token)) {
        }
        chunk_ = here.next[mine_ % 2];
      }
      chunk_ = __shfl_sync(~0u, chunk_, 0);
      ++mine_;
    }
  }

 private:
  // Here the warps of a team learn which chunk their first warp took. Two places take turns, so that the first warp
  // need not wait until the others have read the previous chunk. (This is no barrier by number, because such a barrier
  // would reserve all 16 for the block, and compute-sanitizer takes what follows it for a race.)
  struct Meeting {
    __mbarrier_t barrier;
    int next[2];
  };
  static __device__ __forceinline__ Meeting& meeting(int team) {
    __shared__ Meeting meetings[teams];
    return meetings[team];
  }

  // A team takes no more chunks than keep its threads' sums exact: as long as chunks are left, other teams have room.
  __device__ __forceinline__ int take() const {
    if (range_.taken_from / range_.stride + mine_ == most) return INT_MAX;
    return range_.taken_from + int(atomicAdd(taken_, 1u));
  }

  const SharedRange& range_;
  unsigned* taken_;
  int chunk_, mine_ = 0;  // mine_: how many chunks this team has taken
};

}  // namespace staghorn::cuda
