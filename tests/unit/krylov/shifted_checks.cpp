// Multi-shift CG by itself: where rounding ends a shift.
#include <cmath>

#include "dirac/fields/plain_algebra.hpp"
#include "solver/krylov/shifts/multi_shift.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

constexpr Parity parity = Parity::even;

double norm_of(StaggeredOperator& d, const ColorVectorField& v) {
  std::vector<ExactSum> sums(1, ExactSum(1e6));
  return std::sqrt(d.norm2(v, sums)[0]);
}

// |x| is known from scalars alone: a shift ends where |r| <= rounding |x| holds of the vector x itself.
bool shift_ends_where_its_residual_is_rounding() {
  const Communicator communicator;
  const Lattice lattice({4, 6, 8, 4}, {1, 1, 1, 1}, 0);
  LinkField links(lattice);
  make_random(links);
  StaggeredOperator d(communicator, links, {});
  VectorField source(lattice);
  for (std::int64_t site = 0; site < source.size(); ++site) {
    RandomStream random = test_stream(5000 + site);
    for (auto& component : source[site].c) component = complex_gaussian(random);
  }
  ColorVectorField b = d.make_vector();
  b.pack(parity, 0, source);

  const std::vector<double> shifts = {0.04, 0.3, 2};
  ShiftedStop stop;
  stop.rounding = 1e-4;
  stop.target_norm.assign(shifts.size(), {1e-300});
  MultiShiftCg cg(d, int(shifts.size()));
  const ShiftedResult found = cg.solve(parity, shifts, b, stop, {});
  bool holds = true;
  long before = found.iterations + 1;
  for (std::size_t k = 0; k < shifts.size(); ++k) {
    const SolvedRhs& rhs = found.shift[k][0];
    const double limit = stop.rounding * norm_of(d, cg.x(int(k)));
    const double last_but_one = std::sqrt(rhs.history[rhs.history.size() - 2]);
    holds = holds && CHECK(rhs.outcome == CgOutcome::converged) && CHECK(rhs.residual_norm <= 1.000001 * limit) &&
            CHECK(last_but_one > 0.999 * limit) && CHECK(rhs.iterations < before);  // the larger, the sooner
    before = rhs.iterations;
  }
  return holds;
}

}  // namespace

std::vector<UnitCheck> shifted_checks() { return {UNIT_CHECK(shift_ends_where_its_residual_is_rounding)}; }

}  // namespace staghorn
