#include "solver/krylov/block/mixed_block_conjugate_gradient.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "halo/watch/activity.hpp"
#include "halo/watch/error.hpp"
#include "solver/krylov/block/block_iteration.hpp"
#include "solver/krylov/block/block_progress.hpp"
#include "solver/krylov/block/block_sources.hpp"
#include "solver/krylov/cg_recurrences.hpp"
#include "solver/krylov/reliable_updates.hpp"
#include "solver/krylov/rhs_ledger.hpp"

namespace staghorn {

namespace {

// The sloppy x is added to X so often. Its rounding would reach R, and Q with it: Q magnifies what differs little
// between columns.
constexpr long iterations_to_add_x = iterations_between_states;

// Whether the block still gains. It becomes faster as it goes, until rounding takes its gain: then a fall of the
// residual takes longer than the first ones did, and the batch is the better choice.
class GainWatch {
 public:
  void begin_fall(long iteration, double worst) {
    begin_ = iteration;
    start_ = worst;
  }
  // During a fall; empty, or what is wrong.
  std::string trouble_at(long iteration, double worst) const {
    if (!(worst <= 10 * start_)) return "diverged";
    const bool too_long = falls_ >= first_falls && iteration - begin_ > std::max(least_, longest_ + longest_ / 2);
    return too_long ? "gained less than at its start" : "";
  }
  // After a fall, with R computed anew.
  std::string end_fall(long iteration, double worst) {
    if (++falls_ <= first_falls) longest_ = std::max(longest_, iteration - begin_);
    return worst <= largest_share_left * start_ ? "" : "gained nothing between updates";
  }

  void visit(const Archive& archive) {
    archive("begin", begin_);
    archive("longest", longest_);
    archive("start", start_);
    archive("falls", falls_);
  }

 private:
  static constexpr int first_falls = 3;
  static constexpr long least_ = 64;
  long begin_ = 0, longest_ = 0;
  double start_ = 0;
  int falls_ = 0;
};

class MixedBlockConjugateGradient final : public KrylovSolver {
 public:
  MixedBlockConjugateGradient(StaggeredOperator& d, StaggeredOperator& sloppy) : d_(d), sloppy_(sloppy) {
    block_.emplace(d, sloppy);
  }

  std::int64_t bytes() const override { return batch_ ? batch_->bytes() : block_->bytes(); }

  CgResult solve(const ParitySystem& system, ColorVectorField& x, const ColorVectorField& b, const CgStop& stop,
                 const ShowProgress& show) override {
    const Archive* const kept = stop.keeper ? stop.keeper->kept() : nullptr;
    bool in_batch = false;  // the batch goes on in the place of the block
    if (kept) (*kept)("block", [&](const Archive& archive) { archive("in_batch", in_batch); });
    if (in_batch) {
      const ComplexMatrix unused = identity(b.n_rhs());
      BlockProgress progress(stop, unused, system.shift);
      return go_on_by_batch(system, x, b, stop, show, progress, "", kept);
    }
    if (batch_) {
      batch_.reset();
      block_.emplace(d_, sloppy_);
    }
    return solve_by_block(system, x, b, stop, show, kept);
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

  CgResult solve_by_block(const ParitySystem& system, ColorVectorField& x, const ColorVectorField& b,
                          const CgStop& stop, const ShowProgress& show, const Archive* kept) {
    const auto& [d, parity, shift] = system;
    const ParitySystem sloppy_system{sloppy_, parity, shift};
    auto& [algebra, r, tmp, sloppy_x, inner] = *block_;
    if (kept) stop.keeper->restore({&x, &inner.y(), &inner.p()});
    const BlockSources sources(algebra, b);
    BlockProgress progress(stop, sources.composition(), shift);
    std::vector<ExactSum> sums = sums_of_sources(stop);
    GainWatch watch;
    std::string trouble;
    bool updated = false;  // tmp is D x
    {
      const Activity activity("iterations of block CG");
      BlockFactor factor{ComplexMatrix(0, 0), ComplexMatrix(0, 0), {}};
      double until = 0;
      bool in_fall = kept != nullptr, in_batch = false;
      const auto visit_block = [&](const Archive& archive) {
        archive("in_batch", in_batch);
        archive("progress", progress);
        archive("iteration", inner);
        archive("watch", watch);
        archive("until", until);
        archive("updated", updated);
        archive_sums(archive, "bounds", sums);
      };
      if (kept) {
        (*kept)("block", visit_block);
        sloppy_x.set_zero();
      } else {
        r.copy_from(b);
        sources.put_noise(d.communicator(), parity, r);
        factor = block_cholesky(algebra.gram(r), least_pivot);
        progress.take(factor.rho);
      }
      while (in_fall || (!progress.met() && trouble.empty() && progress.may_go_on())) {
        // R = Q S in high precision; later directions go on from where they were
        if (!std::exchange(in_fall, false)) {
          until = std::max(fall_of_block * progress.worst(), sloppy_aim(1));
          watch.begin_fall(progress.iterations(), progress.worst());
          algebra.combine({{r, factor.inverse}}, tmp);
          inner.y().convert_from(tmp);
          inner.begin(factor.rho, updated);
          sloppy_x.set_zero();
        }
        while (!(progress.worst() <= until) && trouble.empty() && progress.may_go_on()) {
          if (progress.may_be_left() && stop.keeper && stop.keeper->is_due())  // the sloppy x is zero
            stop.keeper->keep(
                {{&x, &inner.y(), &inner.p()}, [&](const Archive& archive) { archive("block", visit_block); }});
          if (!inner.advance(sloppy_system, sloppy_x)) trouble = "broke down";
          progress.take(inner.s());
          if (progress.iterations() % iterations_to_add_x == 0) add_sloppy_x(d, x);
          if (trouble.empty()) trouble = watch.trouble_at(progress.iterations(), progress.worst());
          if (trouble.empty() && progress.is_far_beyond_bound()) trouble = "stagnated";
          if (show) show({progress.iterations(), progress.worst()});
        }
        add_sloppy_x(d, x);
        // R = B - A X
        r.copy_from(b);
        sources.put_noise(d.communicator(), parity, r);
        subtract_product(system, x, r, tmp, sums);
        updated = true;
        factor = block_cholesky(algebra.gram(r), least_pivot);
        progress.take_again(factor.rho);
        progress.mark_update();
        const std::string ended = watch.end_fall(progress.iterations(), progress.worst());
        if (trouble.empty()) trouble = ended;
      }
    }
    sources.compose(algebra, x, tmp);
    CgResult result{{}, LoopForm::block, {}, nullptr};
    if (trouble.empty() || progress.met() || !progress.may_go_on()) {
      if (!sources.any_dependent() && updated) result.hop_of_x = &tmp;
      result.rhs = progress.results(CgOutcome::out_of_iterations);
      return result;
    }
    if (!(progress.worst() - progress.worst() == 0)) x.set_zero();  // infinite or not a number
    return go_on_by_batch(system, x, b, stop, show, progress, trouble, nullptr);
  }

  // The batch goes on from x, in the memory of the block, because of `trouble`; or from `kept`.
  CgResult go_on_by_batch(const ParitySystem& system, ColorVectorField& x, const ColorVectorField& b,
                          const CgStop& stop, const ShowProgress& show, BlockProgress& progress, std::string trouble,
                          const Archive* kept) {
    bool in_batch = true;
    const auto visit_batch = [&](const Archive& archive) {
      archive("in_batch", in_batch);
      archive("progress", progress);
      archive("trouble", trouble);
    };
    const auto visit = [&](const Archive& archive) { archive("block", visit_batch); };
    if (kept) visit(*kept);
    block_.reset();
    batch_.emplace(d_, sloppy_);
    CgStop rest = stop;
    rest.max_iterations -= progress.iterations();
    std::optional<NestedKeeper> keeper;
    if (stop.keeper) {
      keeper.emplace(*stop.keeper, std::vector<ColorVectorField*>{}, visit);
      rest.keeper = &*keeper;
    }
    CgResult result{{}, LoopForm::block, {}, nullptr};
    result.took_over =
        "mixed after " + std::to_string(progress.iterations()) + " iterations, where block CG " + trouble;
    CgResult found = batch_->go_on(system, x, b, rest, show);
    progress.append_legs(found.rhs);
    result.rhs = progress.results();
    result.precise_form = found.precise_form;
    result.hop_of_x = found.hop_of_x;
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
  std::optional<MixedPrecisionCg> batch_;  // instead of the block, once it gave up
};

}  // namespace

std::unique_ptr<KrylovSolver> make_mixed_block_solver(StaggeredOperator& d, StaggeredOperator& sloppy) {
  if (sloppy.options().precision != Precision::fp32)
    throw Error("sloppy", "fp32 with solver block", to_string(sloppy.options().precision));
  return std::make_unique<MixedBlockConjugateGradient>(d, sloppy);
}

}  // namespace staghorn
