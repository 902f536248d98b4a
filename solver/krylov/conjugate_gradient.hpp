// Conjugate Gradient [Hestenes & Stiefel 1952] for A x = b, A = shift - D^2 on the sites of one parity.
#pragma once

#include <memory>
#include <vector>

#include "solver/krylov/rhs_ledger.hpp"
#include "solver/krylov/running_rhs.hpp"

namespace staghorn {

struct CudaLoop;  // stream, buffers and graphs of the loop on a GPU

// A loop that is left and taken up again computes what it would have computed in one piece. It can be left after a
// multiple of cg_refresh_interval iterations, where p is given: there x, r, p, their norms and this are all of it. A
// loop that ends fills it too; where that was after such a multiple, it can go on.
struct LoopMemory {
  bool left = false;  // the loop ended because the keeper of the stop wants its state
  long iterations = 0;
  std::vector<double> hop_bounds;  // of the sums |D p|^2, which set their last bits
  std::vector<Running> rhs;        // empty: the loop has not begun
};

// What the loop works on. At its start r = b - A x, p is a search direction, r2 = |r|^2 and p2 = |p|^2; tmp is work
// space. At its end r, p and p2 are such that the search can go on.
struct CgState {
  ColorVectorField &x, &r, &p, &tmp;
  std::vector<double> r2, p2;                 // one for each right-hand side
  std::shared_ptr<CudaLoop>* loop = nullptr;  // if set: empty at first, then kept between loops of the same operator
  LoopMemory* memory = nullptr;               // if set: the loop may be left, and goes on from there
  bool begun() const { return memory && !memory->rhs.empty(); }
  void visit(const Archive& archive);  // all but vectors; `memory` must be set
};

// The loop alone. Each right-hand side has the bits that it would have alone. Where `state.memory` then
// says that the loop was left, the result is not complete. Collective.
CgResult conjugate_gradient_loop(const ParitySystem& system, CgState& state, const CgStop& stop,
                                 const ShowProgress& show);

// Called with alpha, beta and |r|^2 of each right-hand side after a residual update, before the stop rule. It may
// change the targets of the stop.
using AfterResidual =
    std::function<void(std::span<const double> alpha, std::span<const double> beta, std::span<const double> r2)>;

// The same with its scalars on the host, wherever the vectors are. Collective.
CgResult loop_on_the_host(const ParitySystem& system, CgState& state, const CgStop& stop, const ShowProgress& show,
                          const AfterResidual& after_residual);

// The loop until it ends: whenever stop.keeper wants the state, it gets vectors and values of `state`, and whatever
// `more` writes. state.memory must be set if there is a keeper. Collective.
CgResult kept_loop(const ParitySystem& system, CgState& state, const CgStop& stop, const ShowProgress& show,
                   const VisitState& more = {});

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
