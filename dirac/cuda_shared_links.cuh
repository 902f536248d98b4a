// Links that several threads use: those of one site for different right-hand sides. They come into shared memory while
// the direction before is computed, each fetched once for a block, so what a multiprocessor asks of the second-level
// cache, which binds here, is little more than vectors.
#pragma once

#include "dirac/cuda_access.cuh"

namespace staghorn::cuda {

// A word on its way to shared memory; before sm_80 it takes the way through registers.
template <class Word>
__device__ __forceinline__ void fetch_word(Word* to, const Word* from) {
#if __CUDA_ARCH__ >= 800
  const unsigned place = unsigned(__cvta_generic_to_shared(to));
  if constexpr (sizeof(Word) == 16)  // past the first-level cache
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(from) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(place), "l"(from) : "memory");
#else
  *to = *from;
#endif
}

__device__ __forceinline__ void await_fetched_words() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// What hop_site reads for `Tile` right-hand sides of one site, where `groups` threads of a block have the same site and
// others of them. All threads of the block must come along, with the same mu: they meet once for each.
template <class Stored, int Reals, int Tile, int sites, int groups, class From>
class SharedLinks {
 public:
  using Real = Stored;
  static constexpr Real third_row_unit = staghorn::third_row_unit<Stored, Reals>;
  static constexpr int directions_at_once = 1;  // else more code than a multiprocessor keeps at hand
  static constexpr int link_bytes = Reals * int(sizeof(Stored)) * sites;
  static constexpr int shared_bytes = 4 * link_bytes;  // of both directions of mu, and the next

  // `lane`: of the site among those of the block.
  __device__ __forceinline__ SharedLinks(const From& from, char* shared, int lane, int group)
      : from_(from), shared_(shared), lane_(lane), group_(group) {
    fetch(0);
  }

  __device__ __forceinline__ ColorMatrix<Real> link_here(int mu) const {
    load_vectors(mu, true);
    await_fetched_words();
    __syncthreads();
    if (mu < 3) fetch(mu + 1);
    return link(mu, true);
  }
  __device__ __forceinline__ ColorMatrix<Real> link_behind(int mu) const {
    load_vectors(mu, false);
    return link(mu, false);
  }
  __device__ __forceinline__ ColorVector<Real> vector(int, bool, int r) const { return as_vector(vectors_[r]); }

 private:
  __device__ __forceinline__ char* place(int mu, bool forward) const {
    return shared_ + (2 * (mu % 2) + !forward) * link_bytes;
  }

  __device__ __forceinline__ void fetch(int mu) const {
    fetch_link(from_.place_of_link_here(mu), place(mu, true));
    fetch_link(from_.place_of_link_behind(mu), place(mu, false));
  }

  // The share of this thread's group in the words of a link (load_object).
  template <class LinkPlace>
  __device__ __forceinline__ void fetch_link(const LinkPlace& at, char* to) const {
    constexpr int words = Reals * int(sizeof(Stored)) / 16, tail = Reals * int(sizeof(Stored)) % 16;
    static_assert(tail == 0 || tail == 8);
    const int4* const from = reinterpret_cast<const int4*>(at.object);
    int4* const words_to = reinterpret_cast<int4*>(to);
#pragma unroll
    for (int first = 0; first < words; first += groups)
      if (const int w = first + group_; w < words)
        fetch_word(words_to + w * sites + lane_, from + std::size_t(unsigned(w)) * unsigned(at.V) + unsigned(at.lane));
    if constexpr (tail > 0)
      if (group_ == groups - 1)
        fetch_word(reinterpret_cast<int2*>(words_to + words * sites) + lane_,
                   reinterpret_cast<const int2*>(from + std::size_t(words) * unsigned(at.V)) + unsigned(at.lane));
  }

  __device__ __forceinline__ void load_vectors(int mu, bool forward) const {
    const Neighbour at = from_.neighbour_at(mu, forward);
#pragma unroll
    for (int r = 0; r < Tile; ++r) from_.vectors.load(at, r, 1, vectors_[r]);
    if (from_.has_phase(mu, forward))
#pragma unroll
      for (int r = 0; r < Tile; ++r) from_.turn_phase(mu, forward, vectors_[r]);
  }

  // With the sign of the vectors, which are more.
  __device__ __forceinline__ ColorMatrix<Real> link(int mu, bool forward) const {
    Real reals[Reals];
    load_object<Reals, Caching::plain>(reinterpret_cast<const Stored*>(place(mu, forward)), sites, lane_, reals);
    ColorMatrix<Real> u = link_from_reals<Stored>(reals);
    const Real sign = from_.sign(mu, forward);
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
      for (int j = 0; j < 3; ++j) u.e[i][j] = {sign * u.e[i][j].re, sign * u.e[i][j].im};
    return u;
  }

  const From& from_;
  char* shared_;
  int lane_, group_;
  mutable Real vectors_[Tile][6];  // of the direction whose link was asked for last
};

}  // namespace staghorn::cuda
