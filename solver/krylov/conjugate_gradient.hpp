// Conjugate Gradient [Hestenes & Stiefel 1952] for A x = b, A = shift - D^2 on the sites of one parity.
#pragma once

#include <memory>
#include <vector>

#include "solver/krylov/krylov_solver.hpp"

namespace staghorn {

struct CudaLoop;  // stream, buffers and graphs of the loop on a GPU

// What the loop works on. At its start r = b - A x, p is a search direction, r2 = |r|^2 and p2 = |p|^2; tmp is work
// space. At its end r, p and p2 are such that the search can go on.
struct CgState {
  ColorVectorField &x, &r, &p, &tmp;
  std::vector<double> r2, p2;                 // one for each right-hand side
  std::shared_ptr<CudaLoop>* loop = nullptr;  // if set: empty at first, then kept between loops of the same operator
};

// The loop alone. Each right-hand side has the bits that it would have alone. Collective.
CgResult conjugate_gradient_loop(const ParitySystem& system, CgState& state, const CgStop& stop,
                                 const ShowProgress& show);

// The vectors of CG besides x and b.
struct CgVectors {
  ColorVectorField r, p, tmp;
  std::shared_ptr<CudaLoop> loop = nullptr;
  explicit CgVectors(const StaggeredOperator& d) : r(d.make_vector()), p(d.make_vector()), tmp(d.make_vector()) {}
  std::int64_t bytes() const { return r.bytes() + p.bytes() + tmp.bytes(); }
};

class ConjugateGradient final : public KrylovSolver {
 public:
  explicit ConjugateGradient(const StaggeredOperator& d) : work_(d) {}
  CgResult solve(const ParitySystem& system, ColorVectorField& x, const ColorVectorField& b, const CgStop& stop,
                 const ShowProgress& show) override;
  std::int64_t bytes() const override { return work_.bytes(); }

 private:
  CgVectors work_;
};

}  // namespace staghorn
