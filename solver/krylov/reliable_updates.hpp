// Conjugate Gradient whose iterations run in low precision while the answer is kept in high precision: reliable updates
// [Clark et al. 2009, "Solving Lattice QCD systems of equations using mixed precision solvers on GPUs"].
#pragma once

#include "solver/krylov/conjugate_gradient.hpp"

namespace staghorn {

// The residual is recomputed each time it has fallen by a factor. An update costs some iterations, so the factor is
// what `spacing` iterations would gain on free fields of this mass, within what the sloppy precision can do: where
// iterations gain little, rounding would soon have lost more. Measured in decision 012.
struct ReliableUpdates {
  double most = 0.4;
  double spacing_fp32 = 160, least_fp32 = 5e-4;
  double spacing_fp16 = 100, least_fp16 = 0.02;
  double for_8_reals = 2;        // times the least in fp16: there these round links four times as coarsely
  double of_unknowns = 1. / 16;  // of a parity: the largest spacing, since rounding harms CG most near its exact end
};

struct ReliableVectors {
  ColorVectorField r, tmp, sloppy_x;  // tmp: D x after a solve
  CgVectors sloppy;
  ReliableVectors(const StaggeredOperator& d, const StaggeredOperator& sloppy_d)
      : r(d.make_vector()), tmp(d.make_vector()), sloppy_x(sloppy_d.make_solution()), sloppy(sloppy_d) {}
  std::int64_t bytes() const { return r.bytes() + tmp.bytes() + sloppy_x.bytes() + sloppy.bytes(); }
};

// As conjugate_gradient, for A of `d`, with the iterations on `sloppy` (same lattice, boundary, n_rhs and device). x, b
// and every residual that a target is judged by are at the precision and with the links of `d`; the search direction is
// kept across updates. Where iterations on `sloppy` stagnate, plain CG on `d` goes on. All right-hand sides are updated
// together, so unlike plain CG a column's bits depend on its batch.
CgResult reliable_conjugate_gradient(StaggeredOperator& d, StaggeredOperator& sloppy, double mass, Parity parity,
                                     ColorVectorField& x, const ColorVectorField& b, ReliableVectors& work,
                                     const CgStop& stop, const ReliableUpdates& updates = {},
                                     const std::function<void(const CgProgress&)>& progress = {});

}  // namespace staghorn
