// Links in shared memory, for the threads that work on different right-hand sides of one site. A block fetches each
// link once, while it computes with the links before. A multiprocessor then asks the second-level cache, which is the
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
  if constexpr (sizeof(Word) < 16) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(place), "l"(from), "n"(sizeof(Word)) : "memory");
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
// mu and set of links.
template <class Stored, class Form, int Tile, int sites, int groups, class From>
class SharedLinks {
 public:
  using Real = Arithmetic<Stored>;
  static constexpr Stencil stencil = Form::stencil;
  template <LinkSet set>
  static constexpr Real third_row_unit = staghorn::third_row_unit<Stored, Form::template of<set>>;
  static constexpr int directions_at_once = 1;  // more code would not fit the instruction cache
  static constexpr int link_bytes = (Form::near > Form::naik ? Form::near : Form::naik) * int(sizeof(Stored)) * sites;
  static constexpr int shared_bytes = 4 * link_bytes;  // both links that are in use, and the next two

  __device__ __forceinline__ SharedLinks(const From& from, char* shared) : from_(from), shared_(shared) {
    find_signs<LinkSet::near>();
    if constexpr (stencil == Stencil::improved) find_signs<LinkSet::naik>();
    fetch<LinkSet::near>(0);
  }

  template <LinkSet set>
  __device__ __forceinline__ ColorMatrix<Real> link_here(int mu) const {
    load_vectors<set>(mu, true);
    await_fetched_words();
    __syncthreads();
    if constexpr (stencil == Stencil::improved && set == LinkSet::near) {
      fetch<LinkSet::naik>(mu);
    } else {
      if (mu < 3) fetch<LinkSet::near>(mu + 1);
    }
    return link<set>(mu, true);
  }
  template <LinkSet set>
  __device__ __forceinline__ ColorMatrix<Real> link_behind(int mu) const {
    load_vectors<set>(mu, false);
    return link<set>(mu, false);
  }
  template <LinkSet set>
  __device__ __forceinline__ ColorVector<Real> vector(int, bool, int r) const {
    return as_vector(vectors_[r]);
  }

 private:
  // The last of an odd number of reals in 16 bits is too short to be copied on the way: it passes through a register.
  template <LinkSet set>
  static constexpr bool has_last = is_fixed_point<Stored>&& Form::template of<set> % 2 == 1;
  template <LinkSet set>
  static constexpr int bytes_of_link = (Form::template of<set> - int(has_last<set>)) * int(sizeof(Stored));
  template <LinkSet set>
  static constexpr int words = bytes_of_link<set> / word_bytes;
  template <LinkSet set>
  static constexpr int tail_bytes = bytes_of_link<set> % word_bytes;
  // Links are read once. With 8 reals and for improved quarks the hint is left out: nvcc 13.0 makes illegal
  // instructions of it there.
  static constexpr bool evict_first = Form::near != 8 && stencil == Stencil::naive;

  template <LinkSet set>
  __device__ __forceinline__ void find_signs() {
#pragma unroll
    for (int hop = 0; hop < 8; ++hop)
      signs_ |= unsigned(from_.template sign<set>(hop / 2, hop % 2 == 0) < 0) << (8 * int(set) + hop);
  }

  // Places take turns: from direction to direction, or from one set of links to the other.
  template <LinkSet set>
  __device__ __forceinline__ char* place(int mu, bool forward) const {
    const int turn = stencil == Stencil::improved ? int(set) : mu % 2;
    return shared_ + (2 * turn + !forward) * link_bytes;
  }

  // Fetches the share of this thread's group in both links of mu. The words of both links (load_object) are numbered
  // through.
  template <LinkSet set>
  __device__ __forceinline__ void fetch(int mu) const {
    constexpr int words = SharedLinks::words<set>;
    const auto ahead = from_.template place_of_link_here<set>(mu),
               behind = from_.template place_of_link_behind<set>(mu);
    const int thread = thread_here(), group = thread / sites;
    char* const to = place<set>(mu, true) + thread * word_bytes;
#pragma unroll
    for (int first = 0; first < 2 * words; first += groups) {
      const int word = first + group;
      if (first + groups > 2 * words && word >= 2 * words) break;
      const bool is_ahead = first + groups <= words || (first < words && word < words);
      const char* const object =
          advanced(is_ahead ? ahead.object : behind.object, unsigned(is_ahead ? ahead.lane : behind.lane), word_bytes);
      fetch_word<int4, evict_first>(
          to + first * sites * word_bytes + (is_ahead ? 0 : link_bytes - words * sites * word_bytes),
          advanced(object, unsigned(is_ahead ? ahead.V : behind.V),
                   unsigned(is_ahead ? word : word - words) * word_bytes));
    }
    if constexpr (has_last<set>) {
      constexpr unsigned last = Form::template of<set> - 1;
      const auto last_of = [](const auto& at) { return __ldcs(at.object + last * unsigned(at.V) + at.lane); };
      last_[0] = last_of(ahead);
      last_[1] = last_of(behind);
    }
    if (tail_bytes<set> == 0 || group != groups - 1) return;
    fetch_tail<set>(ahead, place<set>(mu, true), thread % sites);
    fetch_tail<set>(behind, place<set>(mu, false), thread % sites);
  }
  template <LinkSet set, class LinkPlace>
  __device__ __forceinline__ void fetch_tail(const LinkPlace& at, char* to, int lane) const {
    constexpr int bytes = tail_bytes<set>;
    using Tail = std::conditional_t<bytes == 4, int, int2>;
    static_assert(bytes == 0 || bytes == sizeof(Tail));
    const char* const tails = advanced(at.object, unsigned(at.V), words<set> * word_bytes);
    fetch_word<Tail, false>(to + words<set> * sites * word_bytes + lane * bytes,
                            advanced(tails, unsigned(at.lane), bytes));
  }

  template <LinkSet set>
  __device__ __forceinline__ void load_vectors(int mu, bool forward) const {
    const Neighbour at = from_.template neighbour_at<set>(mu, forward);
#pragma unroll
    for (int r = 0; r < Tile; ++r) from_.vectors.load(at, r, from_.template factor<set>(), vectors_[r]);
    if (from_.template has_phase<set>(mu, forward))
#pragma unroll
      for (int r = 0; r < Tile; ++r) from_.turn_phase(mu, forward, vectors_[r]);
  }

  // Returns a link times the sign of the hop: vectors are more than links. With 12 or 13 reals the third row takes the
  // sign of the first.
  template <LinkSet set>
  __device__ __forceinline__ ColorMatrix<Real> link(int mu, bool forward) const {
    constexpr int n = Form::template of<set>;
    constexpr bool two_rows = n == 12 || n == 13;
    constexpr int shared = n - int(has_last<set>);
    Real reals[n], of_shared[shared];
    load_object<shared, Caching::plain>(reinterpret_cast<const Stored*>(place<set>(mu, forward)), sites,
                                        thread_here() % sites, of_shared);
#pragma unroll
    for (int k = 0; k < shared; ++k) reals[k] = of_shared[k];
    if constexpr (has_last<set>) reals[n - 1] = Real(last_[!forward]);
    const unsigned sign = signs_ << (31 - 8 * int(set) - 2 * mu - (forward ? 0 : 1)) & 0x80000000u;
    if constexpr (two_rows)
#pragma unroll
      for (int k = 0; k < 6; ++k) reals[k] = with_sign(reals[k], sign);
    ColorMatrix<Real> u = link_from_reals<Stored>(reals);
#pragma unroll
    for (int i = 0; i < 3; ++i)
#pragma unroll
      for (int j = 0; j < 3; ++j)
        if (!two_rows || i == 1) u.e[i][j] = {with_sign(u.e[i][j].re, sign), with_sign(u.e[i][j].im, sign)};
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
  unsigned signs_ = 0;             // a bit for each leg, as in PlaceWithEdges: it has a minus
  mutable Stored last_[2] = {};    // reals, of the links that were fetched last
  mutable Real vectors_[Tile][6];  // of the direction whose link was read last
};

}  // namespace staghorn::cuda
