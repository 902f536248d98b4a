#include "solver/krylov/shifts/multi_shift.hpp"

#include <algorithm>
#include <cmath>

#include "halo/watch/activity.hpp"
#include "solver/krylov/cg_recurrences.hpp"
#include "solver/krylov/shifts/shifted_rhs.hpp"

namespace staghorn {

namespace {

static_assert(cg_refresh_interval % max_shifted_steps == 0);

constexpr double goes_on = -1;  // a target that no residual meets

CgStop stop_of_seed(const ShiftedStop& stop, std::size_t n_rhs) {
  CgStop of_seed;
  of_seed.max_iterations = stop.max_iterations;
  of_seed.stagnation_window = stop.stagnation_window;
  of_seed.keeper = stop.keeper;
  of_seed.target_norm.resize(n_rhs);
  return of_seed;
}

template <class Visit>
Archive archive_of(const Visit& visit) {
  Archive archive;
  visit(archive);
  return archive.reader();
}

}  // namespace

std::optional<long> iterations_before(const Archive& archive) {
  std::optional<long> before;
  if (archive.has("shifts")) archive("shifts", [&](const Archive& shifts) { shifts("iterations_before", before); });
  return before;
}

MultiShiftCg::MultiShiftCg(StaggeredOperator& d, int n_shifts)
    : d_(d), seed_x_(d.make_vector()), work_(d), shifted_(d, n_shifts - 1) {}

ShiftedResult MultiShiftCg::solve(Parity parity, std::span<const double> shifts, const ColorVectorField& b,
                                  const ShiftedStop& stop, const ShowProgress& show) {
  seed_x_.set_zero();
  work_.r.copy_from(b);
  work_.p.copy_from(b);
  shifted_.begin(b);
  std::vector<ExactSum> sums(stop.target_norm[0].size(), ExactSum(1));
  return iterate(parity, shifts, d_.norm2(b, sums), nullptr, stop, show);
}

ShiftedResult MultiShiftCg::go_on(Parity parity, std::span<const double> shifts, LeftShifts&& left,
                                  const ShiftedStop& stop, const ShowProgress& show) {
  seed_x_.set_zero();
  if (std::vector<ColorVectorField>& vectors = left.vectors; !vectors.empty()) {
    work_.r.convert_from(ColorVectorField(std::move(vectors[0])));
    work_.p.convert_from(ColorVectorField(std::move(vectors[1])));
    shifted_.begin(std::span(vectors).subspan(2));
  }
  std::vector<double> r2;
  left.archive("loop", [&](const Archive& loop) { loop("r2", r2, stop.target_norm[0].size()); });
  return iterate(parity, shifts, r2, &left.archive, stop, show);
}

LeftShifts MultiShiftCg::take_left() {
  LeftShifts left{left_, shifted_.take_p()};
  left.vectors.insert(left.vectors.begin(), std::move(work_.p));
  left.vectors.insert(left.vectors.begin(), std::move(work_.r));
  return left;
}

// The loop of CG on the seed, and after each residual update a step of every shift that is not done. Memory moved for
// each iteration and site of the parity, besides that of CG, in groups of max_shifted_steps = 4 iterations: 6 reals of
// each active shift (x, x, p, p in every fourth iteration), and 15 for the residuals of a group.
ShiftedResult MultiShiftCg::iterate(Parity parity, std::span<const double> shifts, std::span<const double> r2,
                                    const Archive* from, const ShiftedStop& stop, const ShowProgress& show) {
  const Activity activity("multi-shift CG");
  auto& [r, p, tmp, unused] = work_;
  const std::size_t n = r2.size();
  ShiftedRhs shifted(shifts, stop, r2);
  CgStop of_seed = stop_of_seed(stop, n);
  const auto set_targets = [&] {  // the seed's own target counts once all shifts of the right-hand side are done
    for (std::size_t i = 0; i < n; ++i)
      of_seed.target_norm[i] = shifted.all_done(i) ? shifted.target_of_seed(i) : goes_on;
  };

  double worst_ratio = 0;
  std::vector<double> alpha_before, beta_before;
  LoopMemory memory;
  CgState state{seed_x_, r, p, tmp, {r2.begin(), r2.end()}, {r2.begin(), r2.end()}, nullptr, &memory};
  std::optional<long> before;  // iterations before
  const auto visit_shifts = [&](const Archive& archive) {
    archive("rhs", shifted);
    archive("alpha", alpha_before, n);
    archive("beta", beta_before, n);
    archive("iterations_before", before);
  };
  const auto visit = [&](const Archive& archive) {
    archive("loop", state);
    archive("shifts", visit_shifts);
  };
  std::vector<ColorVectorField*> vectors{&seed_x_, &r, &p};
  for (ColorVectorField* const vector : shifted_.vectors()) vectors.push_back(vector);
  if (const Archive* const kept = stop.keeper ? stop.keeper->kept() : nullptr) {
    visit(*kept);
    stop.keeper->restore(vectors);
  } else if (from) {
    visit(*from);
    shifted.begin_solutions();
    before = memory.iterations;
  }
  set_targets();
  bool ends = false, leaves = false;
  of_seed.interrupted = &ends;
  long iteration = memory.iterations;
  const auto step = [&](std::span<const double> alpha, std::span<const double> beta, std::span<const double> r2_now) {
    // x_k += alpha_k p_k, p_k = zeta_k r + beta_k p_k
    shifted.advance(alpha, beta, r2_now, alpha_before, beta_before);
    shifted_.step(r, shifted.steps(), shifted.takes_part());
    alpha_before.assign(alpha.begin(), alpha.end());
    beta_before.assign(beta.begin(), beta.end());
    set_targets();
    worst_ratio = shifted.worst_ratio();
    for (std::size_t i = 0; i < n; ++i)
      worst_ratio = std::max(worst_ratio, std::sqrt(r2_now[i]) / shifted.target_of_seed(i));
    leaves = ++iteration % cg_refresh_interval == 0 && stop.leave_at && shifted.has_fallen(stop.leave_at->fall) &&
             shifted.bears(stop.leave_at->rounding);
    ends = leaves || (stop.interrupted && *stop.interrupted);
  };
  const auto show_all = [&](const CgProgress& at) {
    show({at.iteration, worst_ratio, at.iterations_per_e});
    ends = ends || (stop.interrupted && *stop.interrupted);
  };
  CgResult seed;
  for (;;) {
    seed = loop_on_the_host({d_, parity, shifts[0]}, state, of_seed, show ? show_all : ShowProgress(), step);
    shifted_.finish();  // steps that wait are the last ones of all shifts: a loop is left after whole groups of them
    if (!memory.left) break;
    stop.keeper->keep({vectors, visit});
  }

  ShiftedResult result;
  result.form = seed.form;
  result.left =
      leaves && std::any_of(memory.rhs.begin(), memory.rhs.end(), [](const Running& rhs) { return rhs.active; });
  if (result.left) left_ = archive_of(visit);
  result.iterations_before = before;
  for (const SolvedRhs& rhs : seed.rhs) result.iterations = std::max(result.iterations, rhs.iterations);
  result.shift = shifted.results(std::move(seed.rhs));
  return result;
}

}  // namespace staghorn
