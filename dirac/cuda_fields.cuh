// Reading and writing the objects of SiteLayout's one-block form on the device: words of 16 bytes, coalesced over
// sites.
//
// An object of N reals at lane i of V: floor(N / W) words at (w V + i) W, then a tail of N mod W reals.
#pragma once

#include "dirac/su3.hpp"

namespace staghorn::cuda {

template <class Real>
struct WordOf;
template <>
struct WordOf<double> {
  using type = double2;
  using tail = double2;  // never used: 6, 8, 12 and 18 are even
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
__device__ __forceinline__ void load_object(const Real* object, long long V, int lane, Real (&out)[N]) {
  using Word = typename WordOf<Real>::type;
  using Tail = typename WordOf<Real>::tail;
  constexpr int W = sizeof(Word) / sizeof(Real), full = N / W * W;
  const Word* words = reinterpret_cast<const Word*>(object) + lane;
#pragma unroll
  for (int w = 0; w < N / W; ++w) spread(load_word<how>(words + w * V), out + w * W);
  if constexpr (full < N) spread(load_word<how>(reinterpret_cast<const Tail*>(object + full * V) + lane), out + full);
}

template <int N, class Real>
__device__ __forceinline__ void store_object(Real* object, long long V, int lane, const Real (&in)[N]) {
  using Word = typename WordOf<Real>::type;
  using Tail = typename WordOf<Real>::tail;
  constexpr int W = sizeof(Word) / sizeof(Real), full = N / W * W;
  Word* words = reinterpret_cast<Word*>(object) + lane;
#pragma unroll
  for (int w = 0; w < N / W; ++w) {
    Word word;
    gather(word, in + w * W);
    words[w * V] = word;
  }
  if constexpr (full < N) {
    Tail tail;
    gather(tail, in + full);
    reinterpret_cast<Tail*>(object + full * V)[lane] = tail;
  }
}

template <class Real>
__device__ __forceinline__ ColorVector<Real> as_vector(const Real (&reals)[6]) {
  return {{{reals[0], reals[1]}, {reals[2], reals[3]}, {reals[4], reals[5]}}};
}

}  // namespace staghorn::cuda
