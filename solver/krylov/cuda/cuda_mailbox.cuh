// A mailbox in the memory of every GPU: totals of sums travel between GPUs without the host.
#pragma once

#include <cstdint>

#include "halo/cuda/cuda_wait.cuh"

namespace staghorn::cuda {

// A total on its way. Each word holds 32 bits of data below a tag of 32 bits, so that no fence is needed to order them.
struct alignas(32) Mail {
  std::uint64_t word[4];
};

constexpr __int128 does_not_fit = static_cast<__int128>(1) << 126;  // mailed instead of a total that does not fit

__device__ inline void post(Mail& mail, __int128 total, std::uint32_t tag) {
#pragma unroll
  for (int k = 0; k < 4; ++k) store_relaxed(mail.word + k, std::uint32_t(total >> (32 * k)) | std::uint64_t{tag} << 32);
}

// Whether a total with this tag is there. All words are read together, since each read takes its time.
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

}  // namespace staghorn::cuda
