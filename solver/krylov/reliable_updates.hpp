// Conjugate Gradient whose iterations run in low precision while the answer is kept in high precision: reliable updates
// [Clark et al. 2009, "Solving Lattice QCD systems of equations using mixed precision solvers on GPUs"].
#pragma once

#include "dirac/operators/vector_algebra.hpp"
#include "solver/krylov/conjugate_gradient.hpp"
#include "solver/krylov/updated_rhs.hpp"

namespace staghorn {

// When the residual is recomputed: after so many iterations that the sloppy residual is off by about the share
// `mismatch` of it, as the updates before tell, and at the latest when it has fallen by `fall`. Where it hardly falls,
// as with light masses, errors gather meanwhile, and with them CG forgets the smallest eigenvalues. So the share is
// smaller there: as the inverse condition of A, from `heavy_condition` on, but at least `least_share` times the usual
// one. Decision 012 has the measurements.
struct ReliableUpdates {
  struct Limits {
    double mismatch, least_share, fall;
  };
  Limits fp32{1e-3, 0.1, 5e-4}, fp16{0.05, 0.2, 0.02};
  double heavy_condition = 4e4;  // on free fields of mass 0.01
  double ratio_8_reals = 2;      // fp16 with 8 reals: times the fall, because these links round more coarsely
  long shortest = 32, shortest_8_reals = cg_refresh_interval;  // interval between updates
  double deflated = 0.1;  // the fall where eigenvectors are taken out of the residual at each update
};

// The plan of updates for the system of this shift. Local.
UpdatePlan update_plan(const ReliableUpdates& updates, const StaggeredOperator& sloppy, double shift, bool deflates);

// The true residual takes the place of the one that low precision iterated, and the search goes on.
class ResidualReplacement {
 public:
  // `sloppy` must outlive the object. Local.
  explicit ResidualReplacement(StaggeredOperator& sloppy);

  // In `search`, p = r + q with q = (|r|^2 / |r_before|^2) p_before. `exact`, the true residual rounded, becomes r, and
  // p the direction that CG takes from it: exact + (|exact|^2 / |r|^2) q, without the part of q along `exact`, so that
  // (exact, p) = |exact|^2. Returns |exact - r| / |exact| of each right-hand side. `exact` is search.tmp, of norm
  // squared `exact2`; x is not touched. Collective.
  std::vector<double> replace(CgState& search, const std::vector<double>& exact2, Parity parity) const;

 private:
  std::vector<double> dot(const ColorVectorField& a, const ColorVectorField& b) const;

  StaggeredOperator& sloppy_;
  VectorAlgebra algebra_;
};

// For systems of `d`, with the iterations on `sloppy` (same lattice, boundary, n_rhs and device). x, b and every
// residual that is compared with a target have the precision and the links of `d`; the search goes on across updates.
// Eigenvectors of stop.deflation are taken out of the residual at the start and at every update. Where that
// damps, it is done for all right-hand sides together, each time one of them has fallen by Deflation::damped_drop, for
// the search of all begins anew. If iterations on `sloppy` stagnate, plain CG on `d` goes on. All right-hand sides are
// updated together, so unlike in plain CG the bits of one depend on the others.
class MixedPrecisionCg final : public KrylovSolver {
 public:
  MixedPrecisionCg(const StaggeredOperator& d, StaggeredOperator& sloppy, const ReliableUpdates& updates = {})
      : sloppy_(sloppy),
        updates_(updates),
        replacement_(sloppy),
        r_(d.make_vector()),
        tmp_(d.make_vector()),
        sloppy_x_(sloppy.make_solution()),
        inner_(sloppy) {}
  CgResult solve(const ParitySystem& system, ColorVectorField& x, const ColorVectorField& b, const CgStop& stop,
                 const ShowProgress& show) override;
  std::int64_t bytes() const override { return r_.bytes() + tmp_.bytes() + sloppy_x_.bytes() + inner_.bytes(); }

 private:
  StaggeredOperator& sloppy_;
  ReliableUpdates updates_;
  ResidualReplacement replacement_;
  ColorVectorField r_, tmp_, sloppy_x_;  // tmp_: D x after a solve
  CgVectors inner_;
};

}  // namespace staghorn
