// Exact sums have the right value, whatever the order and the partition. A term that does not fit is reported.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "dirac/algebra/exact_sum.hpp"
#include "dirac/algebra/lane_sum.hpp"
#include "halo/communicator.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

double value_of(ExactPartial partial, const SumGrid& grid, bool* overflow = nullptr) {
  const Communicator communicator(MPI_COMM_SELF);
  double value = 0;
  reduce(communicator, {&partial, 1}, {&grid, 1}, {&value, 1}, overflow);
  return value;
}

// The terms span forty binary orders of magnitude and have both signs. They are added in two orders. A second sum
// cancels.
bool exact_sum_does_not_depend_on_the_order() {
  const Communicator communicator(MPI_COMM_SELF);
  std::vector<double> terms;
  RandomStream random = test_stream(1);
  for (int i = 0; i < 100000; ++i) terms.push_back(std::ldexp(random.uniform() - 0.5, i % 40));
  const double sum = exact_sum(communicator, terms);
  std::reverse(terms.begin(), terms.end());
  return CHECK(exact_sum(communicator, terms) == sum) &&
         CHECK(exact_sum(communicator, std::vector<double>{0x1p53, 1, -0x1p53, 0x1p-30}) == 1 + 0x1p-30);
}

// Groups of very different size: each has a grid of its own.
bool exact_sums_of_groups_are_those_of_each_group() {
  const Communicator communicator(MPI_COMM_SELF);
  std::vector<double> terms;
  std::vector<std::int32_t> groups;
  std::vector<std::vector<double>> apart(5);
  RandomStream random = test_stream(2);
  for (int i = 0; i < 100000; ++i) {
    groups.push_back(i * 7 % 4);  // the last group is empty
    terms.push_back(std::ldexp(random.uniform() - 0.5, -200 * groups.back()));
    apart[std::size_t(groups.back())].push_back(terms.back());
  }
  const std::vector<double> sums = exact_sums(communicator, terms, groups, apart.size());
  bool same = true;
  for (std::size_t k = 0; k < apart.size(); ++k) same = same && sums[k] == exact_sum(communicator, apart[k]);
  terms[3] = NAN;
  return CHECK(same) &&
         CHECK(std::isnan(exact_sums(communicator, terms, groups, apart.size())[std::size_t(groups[3])]));
}

bool exact_sum_reports_what_is_not_a_number() {
  const Communicator communicator(MPI_COMM_SELF);
  return CHECK(std::isnan(exact_sum(communicator, std::vector<double>{1, NAN, 2}))) &&
         CHECK(std::isnan(exact_sum(communicator, std::vector<double>{1, INFINITY}))) &&
         CHECK(exact_sum(communicator, std::vector<double>{0, 0}) == 0);
}

// The same terms are dealt at random to 1 to 40 partial sums, as to ranks and threads, and then added in a random
// order.
bool exact_sum_does_not_depend_on_the_partition() {
  const SumGrid grid = SumGrid::for_bound(0x1p20);
  RandomStream random = test_stream(2);
  std::vector<double> terms;
  for (int i = 0; i < 20000; ++i) terms.push_back(std::ldexp(random.uniform() - 0.5, int(random.bits() % 100) - 79));
  ExactPartial whole;
  for (const double term : terms) whole.add(term, grid);
  const double expected = value_of(whole, grid);
  for (std::size_t parts = 1; parts <= 40; ++parts) {
    std::vector<ExactPartial> partials(parts);
    for (std::size_t i = terms.size(); i > 1; --i) std::swap(terms[i - 1], terms[random.bits() % i]);
    for (const double term : terms) partials[random.bits() % parts].add(term, grid);
    ExactPartial total;
    for (const ExactPartial& partial : partials) total.total += partial.total;
    if (!CHECK(total.total == whole.total) || !CHECK(value_of(total, grid) == expected)) return false;
  }
  return true;
}

// The terms are whole numbers below 2^40. An integer holds their sum.
bool exact_sum_is_the_sum_of_whole_numbers() {
  RandomStream random = test_stream(3);
  const SumGrid grid = SumGrid::for_bound(0x1p40);
  ExactPartial partial;
  std::int64_t expected = 0;
  for (int i = 0; i < 8000; ++i) {
    const std::int64_t term = std::int64_t(random.bits() >> 24) - (std::int64_t{1} << 39);
    expected += term;
    partial.add(double(term), grid);
  }
  return CHECK(value_of(partial, grid) == double(expected));
}

// The running sums of the kernels are those of the plain host code, over several flushes.
bool lane_sums_are_the_plain_sums() {
  constexpr int width = 2;
  const SumGrid grid = SumGrid::for_bound(3.0);
  RandomStream random = test_stream(4);
  ExactPartial plain, lanes;
  LaneSum<width> sum;
  for (int call = 0; call < 5 * sum.capacity; ++call) {
    LaneSum<width>::Vector v;
    for (int l = 0; l < width; ++l) {
      v[l] = call % 7 == 0 ? grid.bound : std::ldexp(random.uniform(), 1 - call % 60);
      plain.add(v[l], grid);
    }
    sum.add(v, grid);
    if ((call + 1) % sum.capacity == 0) sum.flush(grid, lanes);
  }
  return CHECK(!lanes.overflow) && CHECK(lanes.total == plain.total);
}

// The bound itself fits. The next number, infinity and NaN do not fit: then the value is NaN and the flag is set.
bool exact_sum_detects_what_does_not_fit() {
  const SumGrid grid = SumGrid::for_bound(1.0);
  const double above = std::nextafter(1.0, 2.0), infinity = std::numeric_limits<double>::infinity();
  bool holds = CHECK(grid.bound == 1);
  for (const auto& [term, fits] :
       {std::pair{0.0, true}, {1.0, true}, {above, false}, {infinity, false}, {NAN, false}}) {
    ExactPartial plain, lanes;
    plain.add(0.25, grid);
    plain.add(term, grid);
    LaneSum<2> sum;
    const LaneSum<2>::Vector v{0.25, term};
    sum.add(v, grid);
    sum.flush(grid, lanes);
    for (const ExactPartial& partial : {plain, lanes}) {
      bool overflow = false;
      const double value = value_of(partial, grid, &overflow);
      std::printf("0.25 + %.17g: %.17g%s\n", term, value, overflow ? ", overflow" : "");
      holds = holds && overflow == !fits && (fits ? value == 0.25 + term : std::isnan(value));
    }
  }
  return holds;
}

// The bound of the grid is 2^20 times the last value that was not zero.
bool running_sum_chooses_its_grid_by_the_previous_value() {
  ExactSum sum(1.0);
  const double first = sum.grid().bound;
  sum.remember(3.0);
  const double second = sum.grid().bound;
  sum.remember(0.0);
  return CHECK(first == 0x1p20) && CHECK(second == 0x1p22) && CHECK(sum.grid().bound == second);
}

}  // namespace

std::vector<UnitCheck> exact_sum_checks() {
  return {
      UNIT_CHECK(exact_sum_does_not_depend_on_the_order),
      UNIT_CHECK(exact_sum_does_not_depend_on_the_partition),
      UNIT_CHECK(exact_sum_is_the_sum_of_whole_numbers),
      UNIT_CHECK(exact_sums_of_groups_are_those_of_each_group),
      UNIT_CHECK(exact_sum_reports_what_is_not_a_number),
      UNIT_CHECK(exact_sum_detects_what_does_not_fit),
      UNIT_CHECK(lane_sums_are_the_plain_sums),
      UNIT_CHECK(running_sum_chooses_its_grid_by_the_previous_value),
  };
}

}  // namespace staghorn
