// Links in shared memory, for the threads that work on different right-hand sides of one site. A block fetches each
// link once, while it computes the direction before. A multiprocessor then asks the second-level cache, which is the
// bottleneck here, for little more than vectors.
#pragma once

#include "dirac/fields/cuda_spill.cuh"
#include "dirac/kernels/cuda/cuda_access.cuh"

namespace staghorn::cuda {

// Starts to copy a word to shared memory; before sm_80 the word passes through registers. With evict_first the
// second-level cache drops the word first.
template <class Word, bool evict_first>
__device__ __forceinline__ void fetch_word(char* to, const char* from) {
#if __CUDA_ARCH__ >= 800
  const unsigned place = unsigned(__cvta_generic_to_shared(to));
  if constexpr (sizeof(Word) == 8) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(place), "l"(from) : "memory");
  } else if constexpr (evict_first) {
    std::uint64_t policy;
    asm volatile("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(policy));
    asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(place), "l"(from), "l"(policy)
                 : "memory");
  } else {  // past the first-level cache
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(from) : "memory");
  }
#else
  *reinterpret_cast<Word*>(to) = *reinterpret_cast<const Word*>(from);
#endif
}

__device__ __forceinline__ void await_fetched_words() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// Returns from + n * bytes, where n and bytes have 32 bits.
__device__ __forceinline__ const char* advanced(const void* from, unsigned n, unsigned bytes) {
  const char* result;
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(result) : "r"(n), "r"(bytes), "l"(from));
  return result;
}

// The Access of hop_site for `Tile` right-hand sides of one site, where `groups` threads of a block have the same site
// and different right-hand sides. All threads of the block must come along, with the same mu: they meet once for each
// mu.
template <class Stored, int Reals, int Tile, int sites, int groups, class From>
class SharedLinks {
 public:
  using Real = Stored;
  static constexpr Stencil stencil = Stencil::naive;
  template <LinkSet set>
  static constexpr Real third_row_unit = staghorn::third_row_unit<Stored, Reals>;
  static constexpr int directions_at_once = 1;  // more code would not fit the instruction cache
  static constexpr int link_bytes = Reals * int(sizeof(Stored)) * sites;
  static constexpr int shared_bytes = 4 * link_bytes;  // both directions of mu, and those of the next mu

  __device__ __forceinline__ SharedLinks(const From& from, char* shared) : from_(from), shared_(shared) {
#pragma unroll
    for (int hop = 0; hop < 8; ++hop) signs_ |= unsigned(from.sign(hop / 2, hop % 2 == 0) < 0) << hop;
    fetch(0);
  }

  template <LinkSet set>
  __device__ __forceinline__ ColorMatrix<Real> link_here(int mu) const {
    load_vectors(mu, true);
    await_fetched_words();
    __syncthreads();
    if (mu < 3) fetch(mu + 1);
    return link(mu, true);
  }
  template <LinkSet set>
  __device__ __forceinline__ ColorMatrix<Real> link_behind(int mu) const {
    load_vectors(mu, false);
    return link(mu, false);
  }
  template <LinkSet set>
  __device__ __forceinline__ ColorVector<Real> vector(int, bool, int r) const {
    return as_vector(vectors_[r]);
  }

 private:
  static constexpr int words = Reals * int(sizeof(Stored)) / word_bytes,
                       tail_bytes = Reals * int(sizeof(Stored)) % word_bytes;
  static_assert(tail_bytes == 0 || tail_bytes == 8);
  // Links are read once. With 8 reals the hint is left out: nvcc 13.0 makes illegal instructions of it there.
  static constexpr bool evict_first = Reals != 8;

  __device__ __forceinline__ char* place(int mu, bool forward) const {
    return shared_ + (2 * (mu % 2) + !forward) * link_bytes;
  }

  // Fetches the share of this thread's group in both links of mu. The words of both links (load_object) are numbered
  // through.
  __device__ __forceinline__ void fetch(int mu) const {
    const auto ahead = from_.place_of_link_here(mu), behind = from_.place_of_link_behind(mu);
    const int thread = thread_here(), group = thread / sites;
    char* const to = place(mu, true) + thread * word_bytes;
#pragma unroll
    for (int first = 0; first < 2 * words; first += groups) {
      const int word = first + group;
      if (first + groups > 2 * words && word >= 2 * words) break;
      const bool is_ahead = first + groups <= words || (first < words && word < words);
      const char* const object =
          advanced(is_ahead ? ahead.object : behind.object, unsigned(is_ahead ? ahead.lane : behind.lane), word_bytes);
      fetch_word<int4, evict_first>(to + first * sites * word_bytes + (is_ahead ? 0 : sites * tail_bytes),
                                    advanced(object, unsigned(is_ahead ? ahead.V : behind.V),
                                             unsigned(is_ahead ? word : word - words) * word_bytes));
    }
    if (tail_bytes == 0 || group != groups - 1) return;
    fetch_tail(ahead, place(mu, true), thread % sites);
    fetch_tail(behind, place(mu, false), thread % sites);
  }
  template <class LinkPlace>
  __device__ __forceinline__ void fetch_tail(const LinkPlace& at, char* to, int lane) const {
    const char* const tails = advanced(at.object, unsigned(at.V), words * word_bytes);
    fetch_word<int2, false>(to + words * sites * word_bytes + lane * tail_bytes,
                            advanced(tails, unsigned(at.lane), tail_bytes));
  }

  __device__ __forceinline__ void load_vectors(int mu, bool forward) const {
    const Neighbour at = from_.neighbour_at(mu, forward);
#pragma unroll
    for (int r = 0; r < Tile; ++r) from_.vectors.load(at, r, 1, vectors_[r]);
    if (from_.has_phase(mu, forward))
#pragma unroll
      for (int r = 0; r < Tile; ++r) from_.turn_phase(mu, forward, vectors_[r]);
  }

  // Returns a link times the sign of the hop: vectors are more than links. With 12 reals the third row takes the sign
  // of the first.
  __device__ __forceinline__ ColorMatrix<Real> link(int mu, bool forward) const {
    Real reals[Reals];
    load_object<Reals, Caching::plain>(reinterpret_cast<const Stored*>(place(mu, forward)), sites,
                                       thread_here() % sites, reals);
    const unsigned sign = signs_ << (31 - 2 * mu - (forward ? 0 : 1)) & 0x80000000u;
    if constexpr (Reals == 12)
#pragma unroll
      for (int k = 0; k < 6; ++k) reals[k] = with_sign(reals[k], sign);
    ColorMatrix<Real> u = link_from_reals<Stored>(reals);
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
      for (int j = 0; j < 3; ++j)
        if (Reals != 12 || i == 1) u.e[i][j] = {with_sign(u.e[i][j].re, sign), with_sign(u.e[i][j].im, sign)};
    return u;
  }
  __device__ __forceinline__ static double with_sign(double x, unsigned sign) {
    return __hiloint2double(__double2hiint(x) ^ int(sign), __double2loint(x));
  }
  __device__ __forceinline__ static float with_sign(float x, unsigned sign) {
    return __int_as_float(__float_as_int(x) ^ int(sign));
  }

  const From& from_;
  char* shared_;
  unsigned signs_ = 0;             // bit h: hop h (PlaceWithEdges) has a minus
  mutable Real vectors_[Tile][6];  // of the direction whose link was read last
};

}  // namespace staghorn::cuda
