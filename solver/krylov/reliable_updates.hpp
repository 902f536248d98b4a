// Conjugate Gradient whose iterations run in low precision while the answer is kept in high precision: reliable updates
// [Clark et al. 2009, "Solving Lattice QCD systems of equations using mixed precision solvers on GPUs"].
#pragma once

#include "solver/krylov/aims.hpp"
#include "solver/krylov/conjugate_gradient.hpp"

namespace staghorn {

// When the residual is recomputed: each time it has fallen by a factor. An update costs some iterations. So the factor
// is what `spacing` iterations would gain on free fields of this mass, within what the sloppy precision can do: where
// an iteration gains little, rounding would soon lose more. Decision 012 has the measurements.
struct ReliableUpdates {
  double most = 0.4;  // the factor lies between the least of the precision and this
  double spacing_fp32 = 160, least_fp32 = 5e-4;
  double spacing_fp16 = 100, least_fp16 = 0.02;
  double least_ratio_8_reals = 2;        // fp16 with 8 reals: times the least, because these links round more coarsely
  double deflated = 0.1;                 // the factor where eigenvectors are taken out of the residual at each update
  double most_unknowns_share = 1. / 16;  // the largest spacing, as a share of the unknowns of a parity: rounding harms
                                         // CG most near its exact end
};

// The factor by which the residual may fall until an update, for the system of this shift. Local.
double largest_fall(const ReliableUpdates& updates, const StaggeredOperator& sloppy, double shift);

// For systems of `d`, with the iterations on `sloppy` (same lattice, boundary, n_rhs and device). x, b and every
// residual that is compared with a target have the precision and the links of `d`; the search direction is kept across
// updates. Eigenvectors of stop.deflation are taken out of the residual at the start and at every update. Where that
// damps, it is done for all right-hand sides together, each time one of them has fallen by Deflation::damped_drop, for
// the search of all begins anew. If iterations on `sloppy` stagnate, plain CG on `d` goes on. All right-hand sides are
// updated together, so unlike in plain CG the bits of one depend on the others.
class MixedPrecisionCg final : public KrylovSolver {
 public:
  MixedPrecisionCg(const StaggeredOperator& d, StaggeredOperator& sloppy, const ReliableUpdates& updates = {})
      : sloppy_(sloppy),
        updates_(updates),
        r_(d.make_vector()),
        tmp_(d.make_vector()),
        sloppy_x_(sloppy.make_solution()),
        inner_(sloppy) {}
  CgResult solve(const ParitySystem& system, ColorVectorField& x, const ColorVectorField& b, const CgStop& stop,
                 const ShowProgress& show) override;
  // The same from an x that is not zero: another solver got so far. Collective.
  CgResult go_on(const ParitySystem& system, ColorVectorField& x, const ColorVectorField& b, const CgStop& stop,
                 const ShowProgress& show);
  std::int64_t bytes() const override { return r_.bytes() + tmp_.bytes() + sloppy_x_.bytes() + inner_.bytes(); }

 private:
  CgResult iterate(const ParitySystem& system, ColorVectorField& x, const ColorVectorField& b, std::vector<double> r2,
                   std::vector<ExactSum> sums, const CgStop& stop, const ShowProgress& show);

  StaggeredOperator& sloppy_;
  ReliableUpdates updates_;
  ColorVectorField r_, tmp_, sloppy_x_;  // tmp_: D x after a solve
  CgVectors inner_;
};

}  // namespace staghorn
