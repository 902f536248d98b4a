#include "solver/krylov/shifts/shifted_pass.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "dirac/fields/plain_algebra.hpp"
#include "solver/eigen/deflation.hpp"
#include "solver/krylov/reliable_updates.hpp"
#include "solver/krylov/shifts/shifted_precision.hpp"

namespace staghorn {

std::vector<ShiftedColumn> shifted_columns(const Communicator& communicator, System system,
                                           std::span<const VectorField> sources) {
  std::vector<ShiftedColumn> columns;
  const auto lives_on = [&](Parity parity, std::size_t i) {
    return communicator.max(is_zero_on(parity, sources[i]) ? 0.0 : 1.0) > 0;
  };
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (lives_on(system == System::odd ? Parity::odd : Parity::even, i)) columns.push_back({int(i), false});
    if (system == System::full && lives_on(Parity::odd, i)) columns.push_back({int(i), true});
  }
  return columns;
}

ShiftedPass::ShiftedPass(StaggeredOperator& d, int n_masses, std::vector<ShiftedColumn> columns, System system,
                         StaggeredOperator* later, const ChangeOfPrecision& change)
    : d_(d),
      later_(later),
      change_(change),
      columns_(std::move(columns)),
      system_(system),
      parity_(system == System::odd ? Parity::odd : Parity::even) {
  for (int field = 0; field < (system == System::full ? 3 : 1); ++field) fields_.push_back(d.make_vector());
  cg_.emplace(d, n_masses);
  bytes_ = cg_->bytes();
  for (const ColorVectorField& field : fields_) bytes_ += field.bytes();
}

void ShiftedPass::set_sources(std::span<const VectorField> sources, std::span<const double> b2) {
  scale_.assign(columns_.size(), 1);
  for (ColorVectorField& field : fields_) field.set_zero();
  bool any_odd = false;
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    const std::size_t source = std::size_t(columns_[j].source);
    scale_[j] = std::ldexp(1.0, -std::ilogb(std::sqrt(b2[source])));
    if (columns_[j].odd_half)
      fields_[1].pack(opposite(parity_), int(j), sources[source], scale_[j]);
    else
      fields_[0].pack(parity_, int(j), sources[source], scale_[j]);
    any_odd = any_odd || columns_[j].odd_half;
  }
  if (!any_odd) return;
  d_.hop(fields_[2], fields_[1], parity_);   // D_eo b_o
  d_.combine(1, fields_[2], 1, fields_[0]);  // each column is zero in one of the two
}

std::vector<double> ShiftedPass::targets_of_columns(double mass, double tolerance, std::span<const double> b2) const {
  std::vector<double> targets;
  for (std::size_t j = 0; j < columns_.size(); ++j) {
    const int source = columns_[j].source;
    const auto columns = std::count_if(columns_.begin(), columns_.end(), [&](auto& c) { return c.source == source; });
    targets.push_back(tolerance * std::sqrt(b2[std::size_t(source)]) * weight(mass, j) / double(columns));
  }
  return targets;
}

std::vector<SolvedRhs> ShiftedPass::merge_columns(double mass, std::span<const SolvedRhs> columns,
                                                  std::size_t n_sources) const {
  std::vector<SolvedRhs> merged(n_sources);
  for (SolvedRhs& rhs : merged) rhs.outcome = CgOutcome::converged;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    const SolvedRhs& column = columns[j];
    SolvedRhs& rhs = merged[std::size_t(columns_[j].source)];
    const double w = weight(mass, j);
    rhs.outcome = std::max(rhs.outcome, column.outcome);
    rhs.iterations = std::max(rhs.iterations, column.iterations);
    rhs.residual_norm = std::hypot(rhs.residual_norm, column.residual_norm / w);
    // A column that is done stays as it is while the other goes on.
    const std::size_t length = std::max(rhs.history.size(), column.history.size());
    rhs.history.resize(length, rhs.history.empty() ? 0 : rhs.history.back());
    for (std::size_t i = 0; i < length; ++i)
      rhs.history[i] += column.history[std::min(i, column.history.size() - 1)] / (w * w);
  }
  return merged;
}

ShiftedPassResult ShiftedPass::solve(std::span<const double> masses, std::span<const VectorField> sources,
                                     std::span<const double> b2, const ShiftedPassStop& stop, const ShowProgress& show,
                                     std::span<VectorField> solutions) {
  const std::size_t n = sources.size();
  set_sources(sources, b2);
  std::vector<std::size_t> order(masses.size());  // shifts ascend
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return masses[a] < masses[b]; });

  ShiftedStop of_columns;
  of_columns.rounding = rounding_of_products(d_.options().precision);
  of_columns.max_iterations = stop.max_iterations;
  of_columns.interrupted = stop.interrupted;
  of_columns.keeper = stop.keeper;
  std::vector<double> shifts;
  for (const std::size_t mass : order) {
    shifts.push_back(4 * masses[mass] * masses[mass]);
    of_columns.target_norm.push_back(targets_of_columns(masses[mass], stop.tolerance[mass], b2));
  }
  std::optional<ComplexMatrix> low;  // V^+ b
  std::optional<ColorVectorField> part;
  const auto add_solutions = [&](const MultiShiftCg& cg, const ShiftedResult& found) {
    for (std::size_t k = 0; k < order.size(); ++k) {
      const std::size_t mass = order[k];
      if (low)  // V (V^+ b) / (lambda + shift)
        stop.deflation->combine(
            d_, parity_, *low, [&](double lambda) { return 1 / (lambda + shifts[k]); }, *part);
      for (std::size_t j = 0; j < columns_.size(); ++j) {
        if (!std::isfinite(found.shift[k][j].residual_norm)) continue;
        double factor = 1 / scale_[j];
        if (system_ == System::full) factor = columns_[j].odd_half ? -factor : 2 * masses[mass] * factor;
        VectorField& x = solutions[mass * n + std::size_t(columns_[j].source)];
        cg.x(int(k)).add_to(parity_, int(j), factor, x);
        if (low) part->add_to(parity_, int(j), factor, x);
      }
    }
  };
  ShiftedResult found;
  std::optional<LeftShifts> left;
  const Archive* const kept = stop.keeper ? stop.keeper->kept() : nullptr;
  if (kept && went_on(*kept)) {
    left = {*kept, {}};
  } else {
    if (stop.deflation) {  // b -= V V^+ b
      low = stop.deflation->coefficients(d_, parity_, fields_[0]);
      part.emplace(d_.make_vector());
      bytes_ += part->bytes();
      stop.deflation->combine(
          d_, parity_, *low, [](double) { return 1; }, *part);
      d_.combine(-1, *part, 1, fields_[0]);
    }
    if (later_) of_columns.leave_at = change_;
    found = cg_->solve(parity_, shifts, fields_[0], of_columns, show);
    add_solutions(*cg_, found);
    if (found.left) left = cg_->take_left();
  }
  if (left) {
    low.reset();
    part.reset();
    fields_.clear();
    cg_.reset();
    MultiShiftCg cg(*later_, int(masses.size()));
    of_columns.rounding = rounding_of_products(later_->options().precision);
    of_columns.leave_at.reset();
    for (std::vector<double>& targets : of_columns.target_norm)
      for (double& target : targets) target = sloppy_aim(target);
    found = cg.go_on(parity_, shifts, std::move(*left), of_columns, show);
    add_solutions(cg, found);
  }

  ShiftedPassResult result;
  result.mass.resize(masses.size());
  result.iterations = found.iterations;
  if (found.iterations_before) result.sloppy_iterations = found.iterations - *found.iterations_before;
  result.form = found.form;
  result.precision = d_.options().precision;
  for (std::size_t k = 0; k < order.size(); ++k)
    result.mass[order[k]] = merge_columns(masses[order[k]], found.shift[k], n);
  return result;
}

}  // namespace staghorn
