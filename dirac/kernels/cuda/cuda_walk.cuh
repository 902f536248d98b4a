// How blocks go through the chunks of a range: in rounds of one chunk each, but in the last rounds a block takes the
// next chunk as it comes free. A round of a hop takes some 10 microseconds, and blocks drift apart by as much: the
// memory would idle while the last ones finish what was dealt to them. Sums are exact, so who takes what changes no
// bit.
#pragma once

#include <cuda_awbarrier_primitives.h>

#include <algorithm>
#include <climits>

#include "dirac/kernels/cuda/cuda_sites.cuh"
#include "dirac/kernels/cuda/cuda_sums.cuh"

namespace staghorn::cuda {

// A range that a set of teams goes through, `stride` of them.
struct SharedRange {
  ChunkRange chunks;
  int stride;
  int taken_from = INT_MAX;  // before this chunk they are dealt out in rounds, from it on taken
};

// How many rounds are for the taking. On one H200, 32^3x64, 12 reals, microseconds an iteration of CG with 0, 2, 3, 4:
// fp32 266, 262, 263, 264; fp64 517, 503, 503, 503; fp16 -, 161, 162, 163.
constexpr int taken_rounds = 2;

// The last so many rounds are taken, but not the first.
inline SharedRange share_range(const ChunkRange& chunks, int stride, int last_rounds = taken_rounds) {
  SharedRange shared{chunks, stride};
  const int rounds = (chunks.count + stride - 1) / stride;
  if (last_rounds > 0 && rounds > 1) shared.taken_from = stride * std::max(1, rounds - last_rounds);
  return shared;
}

// The way of one of a block's teams of `threads` threads each, through at most `most` chunks:
//   for (Walk<threads, teams, takes> at(range, first, taken); at.more(); at.advance()) ... at.chunk() ...
// takes: whether the last rounds are taken, if the range says so; else all are dealt out.
template <int threads, int teams, bool takes, int most = ThreadSum::max_in_block_share>
class Walk {
 public:
  // first: the team's chunk of the first round;  taken: counts the chunks that the set has taken, 0 before the kernel;
  // not looked at where none are.
  __device__ __forceinline__ Walk(const SharedRange& range, int first, unsigned* taken)
      : range_(range), taken_(taken), chunk_(first) {}

  __device__ __forceinline__ bool more() const { return chunk_ < range_.chunks.count; }
  __device__ __forceinline__ int chunk() const { return chunk_; }

  // Before the first way of a block of several teams; a barrier of the block must follow.
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
  // Where the warps of a team meet, and learn what its first one took: by turns at two places, so that it need not wait
  // until the others have read the last. (Not a barrier by number: it costs a block all 16, of which a multiprocessor
  // has enough for few blocks, and compute-sanitizer takes what follows one for a race.)
  struct Meeting {
    __mbarrier_t barrier;
    int next[2];
  };
  static __device__ __forceinline__ Meeting& meeting(int team) {
    __shared__ Meeting meetings[teams];
    return meetings[team];
  }

  // Not more than keep a thread's sums exact: as long as there are chunks, others have room for them.
  __device__ __forceinline__ int take() const {
    if (range_.taken_from / range_.stride + mine_ == most) return INT_MAX;
    return range_.taken_from + int(atomicAdd(taken_, 1u));
  }

  const SharedRange& range_;
  unsigned* taken_;
  int chunk_, mine_ = 0;  // mine_: how many this team has taken
};

}  // namespace staghorn::cuda
