#include "solver/krylov/block_conjugate_gradient.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "halo/watch/activity.hpp"
#include "halo/watch/error.hpp"
#include "solver/krylov/block/block_iteration.hpp"
#include "solver/krylov/block/block_progress.hpp"
#include "solver/krylov/block/block_sources.hpp"
#include "solver/krylov/conjugate_gradient.hpp"
#include "solver/krylov/updated_rhs.hpp"

namespace staghorn {

namespace {

class BlockConjugateGradient final : public KrylovSolver {
 public:
  explicit BlockConjugateGradient(StaggeredOperator& d) : algebra_(d), block_(d) {}
  std::int64_t bytes() const override { return block_.bytes(); }

  CgResult solve(const ParitySystem& system, ColorVectorField& x, const ColorVectorField& b, const CgStop& stop,
                 const ShowProgress& show) override {
    return go_on(system, x, b, stop, show, true);
  }

  // The same from an x that another block reached, with noise in the places of the same right-hand sides. Collective.
  CgResult go_on(const ParitySystem& system, ColorVectorField& x, const ColorVectorField& b, const CgStop& stop,
                 const ShowProgress& show, bool x_is_zero = false) {
    const auto& [d, parity, shift] = system;
    const Archive* const kept = stop.keeper ? stop.keeper->kept() : nullptr;
    if (kept) stop.keeper->restore({&x, &block_.y(), &block_.p()});
    const BlockSources sources(algebra_, b);
    BlockProgress progress(stop, sources.composition(), shift);
    std::vector<ExactSum> sums = sums_of_sources(stop);
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
        if (!x_is_zero) subtract_product(system, x, block_.y(), block_.tmp(), sums);
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
      sums = sums_of_sources(stop);
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

// The iterations in fp32, residual and solution in fp64. An update recomputes the residual R once it has fallen by
// fall_of_block, or after as many iterations as UpdateInterval allows.
class MixedBlockConjugateGradient final : public KrylovSolver {
 public:
  MixedBlockConjugateGradient(StaggeredOperator& d, StaggeredOperator& sloppy) : d_(d), sloppy_(sloppy) {
    block_.emplace(d, sloppy);
  }

  std::int64_t bytes() const override { return precise_ ? precise_->bytes() : block_->bytes(); }

  CgResult solve(const ParitySystem& system, ColorVectorField& x, const ColorVectorField& b, const CgStop& stop,
                 const ShowProgress& show) override {
    const Archive* const kept = stop.keeper ? stop.keeper->kept() : nullptr;
    bool is_precise = false;  // iterations in fp64 go on in the place of those in fp32
    if (kept) (*kept)("mixed_block", [&](const Archive& archive) { archive("is_precise", is_precise); });
    if (is_precise) {
      const ComplexMatrix unused = identity(b.n_rhs());
      BlockProgress progress(stop, unused, system.shift);
      return go_on_in_fp64(system, x, b, stop, show, progress, "", kept);
    }
    if (precise_) {
      precise_.reset();
      block_.emplace(d_, sloppy_);
    }
    return solve_in_fp32(system, x, b, stop, show, kept);
  }

 private:
  struct Block {
    Block(StaggeredOperator& d, StaggeredOperator& sloppy)
        : algebra(d), r(d.make_vector()), tmp(d.make_vector()), sloppy_x(sloppy.make_solution()), inner(sloppy) {}
    std::int64_t bytes() const { return r.bytes() + tmp.bytes() + sloppy_x.bytes() + inner.bytes(); }

    BlockAlgebra algebra;  // of vectors in high precision
    ColorVectorField r, tmp, sloppy_x;
    BlockIteration inner;
  };

  // The sloppy x is added to X so often. Its rounding would reach R, and Q with it: Q magnifies what differs little
  // between columns.
  static constexpr long iterations_to_add_x = iterations_between_states;
  // The share of a direction that may be off at an update; and what fp32 can no longer keep apart: so much of some
  // direction, at so many updates in a row.
  static constexpr double mismatch = 3e-4, largest_mismatch = 0.05;
  static constexpr long most_lost = 2;

  CgResult solve_in_fp32(const ParitySystem& system, ColorVectorField& x, const ColorVectorField& b, const CgStop& stop,
                         const ShowProgress& show, const Archive* kept) {
    const auto& [d, parity, shift] = system;
    const ParitySystem sloppy_system{sloppy_, parity, shift};
    auto& [algebra, r, tmp, sloppy_x, inner] = *block_;
    if (kept) stop.keeper->restore({&x, &inner.y(), &inner.p()});
    const BlockSources sources(algebra, b);
    BlockProgress progress(stop, sources.composition(), shift);
    std::vector<ExactSum> sums = sums_of_sources(stop);
    UpdateInterval interval(mismatch, cg_refresh_interval);
    std::string trouble;
    double until = 0;     // asks for an update
    long updated_at = 0;  // iteration
    long lost = 0;        // updates in a row
    const auto visit_block = [&](const Archive& archive) {
      bool is_precise = false;
      archive("is_precise", is_precise);
      archive("progress", progress);
      archive("iteration", inner);
      archive("interval", interval);
      archive("until", until);
      archive("updated_at", updated_at);
      archive("lost", lost);
      archive_sums(archive, "bounds", sums);
    };
    const auto visit = [&](const Archive& archive) { archive("mixed_block", visit_block); };
    if (kept) visit(*kept);
    sloppy_x.set_zero();
    const Activity activity("iterations of block CG");
    for (bool goes_on = kept != nullptr;; goes_on = false) {
      if (!goes_on) {  // R = T S in high precision
        const bool begins = progress.iterations() < 0;
        r.copy_from(b);
        sources.put_noise(d.communicator(), parity, r);
        if (!begins) subtract_product(system, x, r, tmp, sums);
        const BlockFactor factor = block_cholesky(algebra.gram(r), least_pivot);
        algebra.combine({{r, factor.inverse}}, tmp);
        if (begins) {
          progress.take(factor.rho);
          inner.y().convert_from(tmp);
          inner.begin(factor.rho);
        } else {
          progress.take_again(factor.rho);
          inner.tmp().convert_from(tmp);
          const ComplexMatrix before = inner.s(), off = inner.replace(factor.rho);
          const double worst = progress.mark_update(off, before);
          interval.record(progress.iterations() - updated_at, worst);
          lost = worst <= largest_mismatch ? 0 : lost + 1;
          if (trouble.empty() && lost >= most_lost) trouble = "lost the directions";
        }
        if (progress.met() || !trouble.empty() || !progress.may_go_on()) break;
        until = std::max(fall_of_block * progress.worst(), sloppy_aim(1));
        updated_at = progress.iterations();
      }
      while (!(progress.worst() <= until) && progress.iterations() - updated_at < interval.longest() &&
             trouble.empty() && progress.may_go_on()) {
        if (progress.may_be_left() && stop.keeper && stop.keeper->is_due())  // the sloppy x is zero
          stop.keeper->keep({{&x, &inner.y(), &inner.p()}, visit});
        if (!inner.advance(sloppy_system, sloppy_x)) trouble = "broke down";
        progress.take(inner.s());
        if (progress.iterations() % iterations_to_add_x == 0) add_sloppy_x(d, x);
        if (trouble.empty() && !std::isfinite(progress.worst())) trouble = "diverged";
        if (trouble.empty() && progress.is_far_beyond_bound()) trouble = "stagnated";
        if (show) show({progress.iterations(), progress.worst()});
      }
      add_sloppy_x(d, x);
    }
    if (progress.met() || trouble.empty()) {
      sources.compose(algebra, x, tmp);
      return {progress.results(CgOutcome::out_of_iterations), LoopForm::block, {}, nullptr};
    }
    if (!std::isfinite(progress.worst())) x.set_zero();
    return go_on_in_fp64(system, x, b, stop, show, progress, trouble, nullptr);
  }

  // The block goes on in fp64 from x, in the memory of that in fp32, because of `trouble`; or from `kept`.
  CgResult go_on_in_fp64(const ParitySystem& system, ColorVectorField& x, const ColorVectorField& b, const CgStop& stop,
                         const ShowProgress& show, BlockProgress& progress, std::string trouble, const Archive* kept) {
    bool is_precise = true;
    const auto visit_block = [&](const Archive& archive) {
      archive("is_precise", is_precise);
      archive("progress", progress);
      archive("trouble", trouble);
    };
    const auto visit = [&](const Archive& archive) { archive("mixed_block", visit_block); };
    if (kept) visit(*kept);
    block_.reset();
    precise_.emplace(d_);
    CgStop rest = stop;
    rest.max_iterations -= progress.iterations();
    std::optional<NestedKeeper> keeper;
    if (stop.keeper) {
      keeper.emplace(*stop.keeper, std::vector<ColorVectorField*>{}, visit);
      rest.keeper = &*keeper;
    }
    CgResult result = precise_->go_on(system, x, b, rest, show);
    const std::string then = result.took_over.empty() ? "" : ", then " + result.took_over;
    result.took_over = "block in fp64 after " + std::to_string(progress.iterations()) +
                       " iterations, where block CG in fp32 " + trouble + then;
    progress.append_legs(result.rhs);
    result.rhs = progress.results();
    return result;
  }

  // X += what the sloppy iterations found.
  void add_sloppy_x(const StaggeredOperator& d, ColorVectorField& x) {
    block_->tmp.convert_from(block_->sloppy_x);
    d.combine(1, block_->tmp, 1, x);
    block_->sloppy_x.set_zero();
  }

  StaggeredOperator &d_, &sloppy_;
  std::optional<Block> block_;
  std::optional<BlockConjugateGradient> precise_;  // instead of the block in fp32, once that gave up
};

}  // namespace

std::unique_ptr<KrylovSolver> make_block_solver(StaggeredOperator& d, StaggeredOperator* sloppy) {
  if (d.options().n_rhs > max_block_rhs)
    throw Error("solver", "at most " + std::to_string(max_block_rhs) + " right-hand sides of block", d.options().n_rhs);
  if (!sloppy) return std::make_unique<BlockConjugateGradient>(d);
  if (sloppy->options().precision != Precision::fp32)
    throw Error("sloppy", "fp32 with solver block", to_string(sloppy->options().precision));
  return std::make_unique<MixedBlockConjugateGradient>(d, *sloppy);
}

double predicted_block_bytes(const OperatorBytes& precise, const OperatorBytes* sloppy) {
  return sloppy ? 2 * precise.vector + 4 * sloppy->vector + sloppy->solution : 4 * precise.vector;
}

}  // namespace staghorn
