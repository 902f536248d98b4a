// Vectors of lanes: the compiler's own vector types, with the few operations that the kernels need beyond + - *. A lane
// is one site; a CPU works on a block of V sites at once.
#pragma once

#include <type_traits>
#include <utility>

namespace staghorn {

template <class Real, int V>
struct LanesOf {
  typedef Real type __attribute__((vector_size(sizeof(Real) * V)));
};
template <class Real, int V>
using Lanes = typename LanesOf<Real, V>::type;

template <class Vector>
using LaneElement = std::remove_cvref_t<decltype(std::declval<Vector&>()[0])>;
template <class Vector>
concept IsLanes = !std::is_class_v<Vector> && !std::is_array_v<Vector> && !std::is_pointer_v<Vector> &&
                  std::is_floating_point_v<LaneElement<Vector>>;

// One correctly rounded fma per lane. Where the machine has an fma instruction this is one instruction; elsewhere it is
// one call per lane, slow but right.
template <IsLanes Vector>
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
inline __attribute__((always_inline))
#else
static __attribute__((noinline))
#endif
Vector
multiply_add(Vector a, Vector b, Vector c) {
  constexpr int V = sizeof(Vector) / sizeof(LaneElement<Vector>);
  Vector result;
  for (int l = 0; l < V; ++l) {
    if constexpr (sizeof(LaneElement<Vector>) == 8)
      result[l] = __builtin_fma(a[l], b[l], c[l]);
    else
      result[l] = __builtin_fmaf(a[l], b[l], c[l]);
  }
  return result;
}

// x in every lane.
template <IsLanes Vector>
inline __attribute__((always_inline)) Vector broadcast(LaneElement<Vector> x) {
  return x - Vector{};
}

template <IsLanes Vector>
inline __attribute__((always_inline)) Vector load(const LaneElement<Vector>* from) {
  return *reinterpret_cast<const Vector*>(from);
}

template <IsLanes Vector>
inline __attribute__((always_inline)) void store(LaneElement<Vector>* to, Vector value) {
  *reinterpret_cast<Vector*>(to) = value;
}

}  // namespace staghorn
