// The Site of cg_site.hpp for a block of lanes, and the sums of its vectors. For cpu_kernels.cpp alone, which is
// compiled once for each instruction set.
#pragma once

#include "dirac/algebra/lane_sum.hpp"
#include "dirac/kernels/cg_site.hpp"
#include "dirac/kernels/cpu/cpu_access.hpp"

namespace staghorn {

// Internal linkage: code for one instruction set must never be merged with another's.
namespace {

// Adds |v|^2 of every lane to the sum.
template <class Real, int W>
STAGHORN_INLINE void add_norm2(const Real* v, LaneSum<W>& sum, const SumGrid& grid) {
  constexpr int V = lanes_of<Real>;
  for (int first = 0; first < V; first += W) {
    Lanes<double, W> wide[6];
    STAGHORN_UNROLL
    for (int k = 0; k < 6; ++k)
      wide[k] = __builtin_convertvector(load<Lanes<Real, W>>(v + k * V + first), Lanes<double, W>);
    sum.add(site_norm2(wide), grid);
  }
}

template <int W>
STAGHORN_INLINE void add_norm2(const std::int16_t* v, LaneSum<W>& sum, const SumGrid& grid) {
  alignas(64) float reals[6 * lanes_of<float>];
  store_vector(reals, load_vector(v));
  add_norm2<float>(reals, sum, grid);
}

// x += factor p in one block of one right-hand side.
template <class Real>
STAGHORN_INLINE void add_to_solution(Real* x, Real factor, const BlockVector<Real>& p) {
  BlockVector<Real> solution = load_vector(static_cast<const Real*>(x));
  add_scaled(solution, broadcast<Block<Real>>(factor), p);
  store_vector(x, solution);
}

// Stores p; returns what the next to read it finds.
template <class Stored>
STAGHORN_INLINE BlockVector<Stored> store_direction(Stored* to, const BlockVector<Stored>& p) {
  store_vector(to, p);
  if constexpr (is_fixed_point<Stored>) return load_vector(static_cast<const Stored*>(to));
  return p;
}

// One right-hand side of a block, where a hop is finished.
template <class Stored>
struct HopSite {
  using Real = Arithmetic<Stored>;
  const HopCall& call;
  int rhs;
  Stored *out, *p;
  Real* x;

  bool recurs() const { return call.beta != nullptr; }
  STAGHORN_INLINE Block<Real> alpha() const { return broadcast<Block<Real>>(Real(call.alpha[rhs])); }
  STAGHORN_INLINE Block<Real> beta() const { return broadcast<Block<Real>>(Real(call.beta[rhs])); }
  STAGHORN_INLINE Block<Real> four_m2() const { return broadcast<Block<Real>>(Real(call.four_m2)); }
  STAGHORN_INLINE BlockVector<Stored> load_out() const { return load_vector(static_cast<const Stored*>(out)); }
  STAGHORN_INLINE BlockVector<Stored> load_p() const { return load_vector(static_cast<const Stored*>(p)); }
  STAGHORN_INLINE BlockVector<Stored> store_p(const BlockVector<Stored>& v) const { return store_direction(p, v); }

  // x = new_weight p + (old_weight p_before + x), each p at once: two p at hand would find no registers. Where both
  // coefficients are 0, x is not touched.
  STAGHORN_INLINE void grow_old(const BlockVector<Stored>& v) const {
    if (grows()) add_to_solution(x, Real(call.old_weight[rhs]), v);
  }
  STAGHORN_INLINE void grow_new(const BlockVector<Stored>& v) const {
    if (grows()) add_to_solution(x, Real(call.new_weight[rhs]), v);
  }

 private:
  STAGHORN_INLINE bool grows() const {
    return call.x && (Real(call.old_weight[rhs]) != 0 || Real(call.new_weight[rhs]) != 0);
  }
};

// One right-hand side of a block in an update of the direction.
template <class Stored>
struct DirectionSite {
  using Real = Arithmetic<Stored>;
  Real alpha, factor;
  const Stored *p, *r;
  Real* x;  // nullptr: without

  STAGHORN_INLINE Block<Real> beta() const { return broadcast<Block<Real>>(factor); }
  STAGHORN_INLINE BlockVector<Stored> load_p() const { return load_vector(p); }
  STAGHORN_INLINE BlockVector<Stored> load_r() const { return load_vector(r); }
  STAGHORN_INLINE void grow(const BlockVector<Stored>& direction) const {
    if (x && alpha != 0) add_to_solution(x, alpha, direction);
  }
};

}  // namespace

}  // namespace staghorn
