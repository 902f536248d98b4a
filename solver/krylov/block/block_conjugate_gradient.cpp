#include "solver/krylov/block_conjugate_gradient.hpp"

#include "halo/watch/activity.hpp"
#include "halo/watch/error.hpp"
#include "solver/krylov/block/block_iteration.hpp"
#include "solver/krylov/block/block_progress.hpp"
#include "solver/krylov/block/block_sources.hpp"
#include "solver/krylov/block/mixed_block_conjugate_gradient.hpp"
#include "solver/krylov/conjugate_gradient.hpp"

namespace staghorn {

namespace {

class BlockConjugateGradient final : public KrylovSolver {
 public:
  explicit BlockConjugateGradient(StaggeredOperator& d) : algebra_(d), block_(d) {}
  std::int64_t bytes() const override { return block_.bytes(); }

  CgResult solve(const ParitySystem& system, ColorVectorField& x, const ColorVectorField& b, const CgStop& stop,
                 const ShowProgress& show) override {
    const auto& [d, parity, shift] = system;
    const Archive* const kept = stop.keeper ? stop.keeper->kept() : nullptr;
    if (kept) stop.keeper->restore({&x, &block_.y(), &block_.p()});
    const BlockSources sources(algebra_, b);
    BlockProgress progress(stop, sources.composition(), shift);
    bool in_batch = false;  // the batch goes on in the place of the block
    const auto visit_block = [&](const Archive& archive) {
      archive("progress", progress);
      archive("in_batch", in_batch);
      if (!in_batch) archive("iteration", block_);
    };
    const auto visit = [&](const Archive& archive) { archive("block", visit_block); };
    if (kept) visit(*kept);
    if (!in_batch) {
      const Activity activity("iterations of block CG");
      if (!kept) {
        block_.y().copy_from(b);
        sources.put_noise(d.communicator(), parity, block_.y());
        block_.begin(identity(b.n_rhs()));
        progress.take(block_.s());
      }
      bool positive = true;
      while (!progress.met() && positive && !progress.stagnates() && progress.may_go_on()) {
        if (progress.may_be_left() && stop.keeper && stop.keeper->is_due())
          stop.keeper->keep({{&x, &block_.y(), &block_.p()}, visit});
        positive = block_.advance(system, x);
        progress.take(block_.s());
        if (show) show({progress.iterations(), progress.worst()});
      }
    }
    if (!in_batch) sources.compose(algebra_, x, block_.tmp());
    CgResult result{{}, LoopForm::block, {}, nullptr};
    if (!in_batch && (progress.met() || !progress.may_go_on())) {
      result.rhs = progress.results(CgOutcome::out_of_iterations);
      return result;
    }

    // r = b - A x;  the batch goes on from here
    ColorVectorField &r = block_.y(), &p = block_.p(), &tmp = block_.tmp();
    const std::size_t n = stop.target_norm.size();
    std::vector<double> r2(n);
    if (!in_batch) {
      if (!(progress.worst() - progress.worst() == 0)) x.set_zero();  // infinite or not a number
      std::vector<ExactSum> sums = sums_of_sources(stop);
      r2 = residual(system, x, b, r, tmp, sums);
      p.copy_from(r);
    }
    LoopMemory memory;
    CgState state{x, r, p, tmp, r2, r2, nullptr, &memory};
    if (in_batch) (*kept)("loop", state);
    in_batch = true;
    CgStop rest = stop;
    rest.max_iterations -= progress.iterations();
    result.took_over = "cg after " + std::to_string(progress.iterations()) + " iterations, where block CG " +
                       (progress.stagnates() ? "stagnated" : "broke down");
    const CgResult found = kept_loop(system, state, rest, show, visit);
    progress.append_legs(found.rhs);
    result.rhs = progress.results();
    return result;
  }

 private:
  BlockAlgebra algebra_;
  BlockIteration block_;
};

}  // namespace

std::unique_ptr<KrylovSolver> make_block_solver(StaggeredOperator& d, StaggeredOperator* sloppy) {
  if (d.options().n_rhs > max_block_rhs)
    throw Error("solver", "at most " + std::to_string(max_block_rhs) + " right-hand sides of block", d.options().n_rhs);
  if (sloppy) return make_mixed_block_solver(d, *sloppy);
  return std::make_unique<BlockConjugateGradient>(d);
}

double predicted_block_bytes(const OperatorBytes& precise, const OperatorBytes* sloppy) {
  return sloppy ? 2 * precise.vector + 4 * sloppy->vector + sloppy->solution : 4 * precise.vector;
}

}  // namespace staghorn
