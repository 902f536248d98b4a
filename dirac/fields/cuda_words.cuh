// Reads and writes the objects of SiteLayout's one-block form on the device, in words of 16 bytes, coalesced over
// sites.
//
// An object of N reals at lane i of V has floor(N / W) words of W reals, word w at (w V + i) W, and then a tail of N
// mod W reals: 1, 2 or 4 of them, or 5 as 4 and 1. A vector in fixed point is one word: six int16 and its unit.
#pragma once

#include "dirac/algebra/fixed_point.hpp"
#include "dirac/algebra/su3.hpp"

namespace staghorn::cuda {

constexpr int word_bytes = 16;

template <class Real>
struct WordOf;
template <>
struct WordOf<double> {
  using type = double2;
  using tail = double;
};
template <>
struct WordOf<float> {
  using type = float4;
  using tail = float2;
};

enum class Caching { streaming, read_only, plain };

template <Caching how, class T>
__device__ __forceinline__ T load_word(const T* from) {
  if constexpr (how == Caching::streaming) return __ldcs(from);
  if constexpr (how == Caching::read_only) return __ldg(from);
  return *from;
}

__device__ __forceinline__ void spread(const double2& w, double* to) { to[0] = w.x, to[1] = w.y; }
__device__ __forceinline__ void spread(const float2& w, float* to) { to[0] = w.x, to[1] = w.y; }
__device__ __forceinline__ void spread(const float4& w, float* to) {
  to[0] = w.x, to[1] = w.y, to[2] = w.z, to[3] = w.w;
}
__device__ __forceinline__ void gather(double2& w, const double* from) { w = {from[0], from[1]}; }
__device__ __forceinline__ void gather(float2& w, const float* from) { w = {from[0], from[1]}; }
__device__ __forceinline__ void gather(float4& w, const float* from) { w = {from[0], from[1], from[2], from[3]}; }

template <int N, Caching how, class Real>
__device__ __forceinline__ void load_object(const Real* object, unsigned V, unsigned lane, Real (&out)[N]) {
  using Word = typename WordOf<Real>::type;
  using Tail = typename WordOf<Real>::tail;
  constexpr int W = sizeof(Word) / sizeof(Real), full = N / W * W;
  const Word* words = reinterpret_cast<const Word*>(object) + lane;
#pragma unroll
  for (int w = 0; w < N / W; ++w) spread(load_word<how>(words + std::size_t(w) * V), out + w * W);
  if constexpr (N - full == 1)
    out[full] = load_word<how>(object + std::size_t(full) * V + lane);
  else if constexpr (full < N)
    spread(load_word<how>(reinterpret_cast<const Tail*>(object + std::size_t(full) * V) + lane), out + full);
}

template <Caching how, class T>
__device__ __forceinline__ void store_word(T* to, const T& word) {
  if constexpr (how == Caching::streaming)
    __stcs(to, word);
  else
    *to = word;
}

template <Caching how = Caching::plain, int N, class Real>
__device__ __forceinline__ void store_object(Real* object, unsigned V, unsigned lane, const Real (&in)[N]) {
  using Word = typename WordOf<Real>::type;
  using Tail = typename WordOf<Real>::tail;
  constexpr int W = sizeof(Word) / sizeof(Real), full = N / W * W;
  Word* words = reinterpret_cast<Word*>(object) + lane;
#pragma unroll
  for (int w = 0; w < N / W; ++w) {
    Word word;
    gather(word, in + w * W);
    store_word<how>(words + std::size_t(w) * V, word);
  }
  static_assert(N - full == 0 || N - full == 2, "links of odd length are stored by reals");
  if constexpr (full < N) {
    Tail tail;
    gather(tail, in + full);
    store_word<how>(reinterpret_cast<Tail*>(object + std::size_t(full) * V) + lane, tail);
  }
}

// Two int16 of a word as floats. `spread` uses the unit that converts; `spread_widened` first widens with the unit for
// integers. A hop would wait for either unit alone, so that links use both.
__device__ __forceinline__ void spread(int pair, float* to) {
  to[0] = float(short(pair));
  to[1] = float(pair >> 16);
}
__device__ __forceinline__ void spread_widened(int pair, float* to) {
  int lower;
  asm("prmt.b32 %0, %1, 0, 0x9910;" : "=r"(lower) : "r"(pair));  // written as a cast it would be converted
  to[0] = float(lower);
  to[1] = float(pair >> 16);
}

// Reads int16 numbers as floats.
template <int N, Caching how>
__device__ __forceinline__ void load_object(const std::int16_t* object, unsigned V, unsigned lane, float (&out)[N]) {
  constexpr int full = N / 8 * 8;
#pragma unroll
  for (int w = 0; w < N / 8; ++w) {
    const int4 word = load_word<how>(reinterpret_cast<const int4*>(object) + std::size_t(w) * V + lane);
    spread_widened(word.x, out + 8 * w);
    spread(word.y, out + 8 * w + 2);
    spread(word.z, out + 8 * w + 4);
    spread(word.w, out + 8 * w + 6);
  }
  if constexpr (N - full == 2)
    spread(load_word<how>(reinterpret_cast<const int*>(object + std::size_t(full) * V) + lane), out + full);
  if constexpr (N - full >= 4) {
    const int2 word = load_word<how>(reinterpret_cast<const int2*>(object + std::size_t(full) * V) + lane);
    spread(word.x, out + full);
    spread(word.y, out + full + 2);
  }
  if constexpr (N % 2 == 1) out[N - 1] = float(load_word<how>(object + std::size_t(N - 1) * V + lane));
}

// Reads a colour vector, times `factor`.
template <Caching how, class Stored>
__device__ __forceinline__ void load_vector(const Stored* field, unsigned V, unsigned lane, Arithmetic<Stored> (&v)[6],
                                            Arithmetic<Stored> factor = 1) {
  if constexpr (is_fixed_point<Stored>) {
    const int4 word = load_word<how>(reinterpret_cast<const int4*>(field) + lane);
    spread(word.x, v);
    spread(word.y, v + 2);
    spread(word.z, v + 4);
    factor *= __int_as_float(word.w);
  } else {
    load_object<6, how>(field, V, lane, v);
  }
#pragma unroll
  for (int k = 0; k < 6; ++k) v[k] *= factor;
}

template <class Real>
struct StoredVector {
  Real real[6];
};

// Stores a colour vector. Returns what the next to read it will find, rounding included.
template <Caching how = Caching::plain, class Stored>
__device__ __forceinline__ StoredVector<Arithmetic<Stored>> store_vector(Stored* field, unsigned V, unsigned lane,
                                                                         const Arithmetic<Stored> (&v)[6]) {
  StoredVector<Arithmetic<Stored>> stored;
  if constexpr (is_fixed_point<Stored>) {
    int q[6];
    const float unit = to_fixed_point(v, q);
    const auto pair = [&](int k) { return int(__byte_perm(q[k], q[k + 1], 0x5410)); };
    store_word<how>(reinterpret_cast<int4*>(field) + lane, int4{pair(0), pair(2), pair(4), __float_as_int(unit)});
#pragma unroll
    for (int k = 0; k < 6; ++k) stored.real[k] = (__int_as_float(q[k]) - 0x1.8p23f) * unit;
  } else {
    store_object<how>(field, V, lane, v);
#pragma unroll
    for (int k = 0; k < 6; ++k) stored.real[k] = v[k];
  }
  return stored;
}

// Copies one vector as it is stored: a second rounding could change its unit.
template <class Stored>
__device__ __forceinline__ void copy_vector(Stored* to, unsigned to_V, unsigned to_lane, const Stored* from, unsigned V,
                                            unsigned lane) {
  if constexpr (is_fixed_point<Stored>) {
    reinterpret_cast<int4*>(to)[to_lane] = reinterpret_cast<const int4*>(from)[lane];
  } else {
    Stored reals[6];
    load_object<6, Caching::read_only>(from, V, lane, reals);
    store_object(to, to_V, to_lane, reals);
  }
}

template <class Real>
__device__ __forceinline__ ColorVector<Real> as_vector(const Real (&reals)[6]) {
  return {{{reals[0], reals[1]}, {reals[2], reals[3]}, {reals[4], reals[5]}}};
}
template <class Real>
__device__ __forceinline__ StoredVector<Real> reals_of(const ColorVector<Real>& v) {
  return {{v.c[0].re, v.c[0].im, v.c[1].re, v.c[1].im, v.c[2].re, v.c[2].im}};
}
template <Caching how, class Stored>
__device__ __forceinline__ ColorVector<Arithmetic<Stored>> vector_at(const Stored* field, unsigned V, unsigned lane) {
  Arithmetic<Stored> reals[6];
  load_vector<how>(field, V, lane, reals);
  return as_vector(reals);
}

// Where the vectors of a right-hand side begin, in stored reals.
template <class Stored>
__device__ __forceinline__ std::size_t vector_offset(int rhs, int sites) {
  return std::size_t(unsigned(rhs) * vector_places<Stored>) * unsigned(sites);
}

}  // namespace staghorn::cuda
