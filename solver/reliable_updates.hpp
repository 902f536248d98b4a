// Conjugate Gradient whose iterations run in low precision while the answer is kept in high precision: reliable updates
// [Clark et al. 2009, "Solving Lattice QCD systems of equations using mixed precision solvers on GPUs"].
#pragma once

#include "solver/conjugate_gradient.hpp"

namespace staghorn {

// The residual is recomputed each time it has fallen by a factor. An update costs some iterations, so the factor is
// what `spacing` iterations gain at the rate seen so far (which CG's convergence ties to the condition number), within
// what the sloppy precision can do. Ill-conditioned systems gain little in so many iterations, and there frequent
// updates save many; so they do in fp16 on small lattices, where fp64 would soon have searched nearly every direction
// (docs/performance.md).
struct ReliableUpdates {
  double spacing = 100, most = 0.2;  // and the most at first
  double least_fp32 = 0.01, least_fp16 = 0.05;
  double for_8_reals = 2;  // times the least in fp16: there these round links four times as coarsely
  double for_small = 4;    // times the least in fp16 on lattices of fewer sites than
  std::int64_t large = 100000;
};

struct ReliableVectors {
  ColorVectorField r, tmp, sloppy_x;
  CgVectors sloppy;
  ReliableVectors(const StaggeredOperator& d, const StaggeredOperator& sloppy_d)
      : r(d.make_vector()), tmp(d.make_vector()), sloppy_x(sloppy_d.make_solution()), sloppy(sloppy_d) {}
  std::int64_t bytes() const { return r.bytes() + tmp.bytes() + sloppy_x.bytes() + sloppy.bytes(); }
};

// As conjugate_gradient, for A of `d`, with the iterations on `sloppy` (same lattice, boundary, n_rhs and device). x, b
// and every residual that a target is judged by are at the precision and with the links of `d`; the search direction is
// kept across updates. Where iterations on `sloppy` stagnate, plain CG on `d` goes on. All right-hand sides are updated
// together, so unlike plain CG a column's bits depend on its batch.
std::vector<CgColumn> reliable_conjugate_gradient(StaggeredOperator& d, StaggeredOperator& sloppy, double mass,
                                                  Parity parity, ColorVectorField& x, const ColorVectorField& b,
                                                  ReliableVectors& work, const CgStop& stop,
                                                  const ReliableUpdates& updates = {},
                                                  const std::function<void(const CgProgress&)>& progress = {});

}  // namespace staghorn
