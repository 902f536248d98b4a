// The parts of the search for eigenpairs: the polynomial, the range of the spectrum, an interval that begins too low, a
// basis that fills the whole space.
#include <cmath>

#include "dirac/fields/plain_algebra.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "solver/eigen/lanczos_search.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

constexpr Parity parity = Parity::even;

struct Setting {
  explicit Setting(const Extents& extents, int columns = 1) : lattice(extents, {1, 1, 1, 1}, 0), links(lattice) {
    make_random(links);
    d.emplace(communicator, links, OperatorOptions{});
    OperatorOptions of_block;
    of_block.n_rhs = columns;
    d_of_block.emplace(communicator, links, of_block, d->hop_data());
  }

  Communicator communicator{MPI_COMM_SELF};
  Lattice lattice;
  LinkField links;
  std::optional<StaggeredOperator> d, d_of_block;
};

// T_n(K) v by the plain operator: t_{j+1} = 2 x(K) t_j - t_{j-1}.
bool polynomial_is_that_of_the_plain_operator() {
  Setting with({4, 2, 4, 6});
  ColorVectorField v = with.d->make_vector(), out = with.d->make_vector();
  draw_gaussian(*with.d, v, parity, 5, 0);
  VectorField start(with.lattice), found(with.lattice), tmp(with.lattice), k_t(with.lattice);
  v.unpack(parity, 0, start);
  for (const int degree : {1, 2, 3, 4, 7, 12}) {
    const ChebyshevFilter filter(3, 25, degree);
    ChebyshevFilter::Work work(*with.d);
    filter.apply(*with.d, parity, v, out, work);
    out.unpack(parity, 0, found);
    VectorField before = start, now = start;
    for (int j = 0; j < degree; ++j) {
      plain_hop(with.communicator, with.links, {}, tmp, now, Parity::odd);
      plain_hop(with.communicator, with.links, {}, k_t, tmp, parity);  // D D t = -K t
      for (std::int64_t site = 0; site < now.size(); ++site)
        for (int c = 0; c < 3; ++c) {
          Complex<double>&t = now[site].c[c], &last = before[site].c[c];
          const Complex<double> x = {(14 * t.re + k_t[site].c[c].re) / 11, (14 * t.im + k_t[site].c[c].im) / 11};
          const Complex<double> next = j == 0 ? x : Complex<double>{2 * x.re - last.re, 2 * x.im - last.im};
          last = t;
          t = next;
        }
    }
    double difference = 0;
    for (std::int64_t site = 0; site < now.size(); ++site) {
      if (Lattice::parity_of(with.lattice.site_coordinates(site)) != parity) continue;
      for (int c = 0; c < 3; ++c)
        difference = std::max({difference, std::fabs(now[site].c[c].re - found[site].c[c].re),
                               std::fabs(now[site].c[c].im - found[site].c[c].im)});
    }
    if (!CHECK(difference < 1e-12 * std::fabs(filter.value(0)))) return false;
  }
  return true;
}

bool polynomial_orders_eigenvalues_below_its_interval() {
  for (const int degree : {1, 2, 5, 16, 100}) {
    const ChebyshevFilter filter(0.2, 20, degree);
    double before = 1e300;
    for (const double lambda : {0.0, 1e-6, 0.01, 0.1, 0.19}) {
      const double value = filter.value(lambda);
      if (!(CHECK(value < before) && CHECK(filter.is_ordered(value)) &&
            CHECK(std::fabs(filter.eigenvalue(value) - lambda) < 1e-13)))
        return false;
      before = value;
    }
    for (double lambda = 0.2; lambda <= 20; lambda += 0.1)
      if (!(CHECK(std::fabs(filter.value(lambda)) < 1 + 1e-10))) return false;
  }
  return true;
}

bool range_of_the_spectrum_counts_eigenvalues() {
  Setting with({4, 4, 4, 6});
  const SpectralRange range = find_spectral_range(*with.d, parity, 1, 1000);
  // the traces of 1 and of K, of which each off-diagonal block D_oe has 8 links a site, each with norm^2 3
  return CHECK(range.dimension == 3 * 192) && CHECK(std::fabs(range.below.back() / 576 - 1) < 1e-12) &&
         CHECK(range.residual <= 1e-6 * range.largest) && CHECK(range.largest > 16) && CHECK(range.largest < 64) &&
         CHECK(range.bound_of(1) < range.bound_of(100)) && CHECK(range.bound_of(1e6) >= range.largest);
}

Eigenpairs found_pairs(Setting& with, const LanczosAim& aim, LanczosCounts& counts, LanczosEnd& end) {
  const SpectralRange range = find_spectral_range(*with.d, parity, aim.seed, aim.max_calls);
  LanczosSearch search(*with.d, *with.d_of_block, parity, range, aim);
  end = search.run();
  Eigenpairs pairs = search.pairs(*with.d);
  counts = search.counts();
  return pairs;
}

// The fatal case: the interval begins below the last eigenvalue that is wanted.
bool an_interval_that_begins_too_low_is_widened_in_blocks_of(int columns) {
  Setting with({4, 4, 4, 6}, columns);
  LanczosAim aim{20, 1e-9, 20000, 1, {}, {}};
  LanczosCounts counts;
  LanczosEnd end;
  const Eigenpairs expected = found_pairs(with, aim, counts, end);
  if (!(CHECK(counts.widened == 0) && CHECK(end == LanczosEnd::complete))) return false;
  aim.from = (expected.values[4] + expected.values[5]) / 2;
  aim.degree = 16;
  const Eigenpairs found = found_pairs(with, aim, counts, end);
  if (!(CHECK(counts.widened > 0) && CHECK(end == LanczosEnd::complete) && CHECK(found.count() == 20))) return false;
  for (std::size_t i = 0; i < 20; ++i)
    if (!CHECK(std::fabs(found.values[i] - expected.values[i]) < 1e-11)) return false;
  return true;
}

bool an_interval_that_begins_too_low_is_widened() {
  return an_interval_that_begins_too_low_is_widened_in_blocks_of(1) &&
         an_interval_that_begins_too_low_is_widened_in_blocks_of(4);
}

// All 48 eigenvalues of 2x2x2x4: their sum is the trace 8 x 3 x sites / 2. With 5 vectors in a block the last one
// has 3.
bool a_basis_may_fill_the_whole_space_in_blocks_of(int columns) {
  Setting with({2, 2, 2, 4}, columns);
  LanczosCounts counts;
  LanczosEnd end;
  const Eigenpairs pairs = found_pairs(with, {48, 1e-9, 1000, 1, {}, {}}, counts, end);
  double trace = 0;
  for (const double value : pairs.values) trace += value;
  VectorField unit(with.lattice), tmp(with.lattice);
  double expected = 0;  // tr K = sum |D e_i|^2
  for (std::int64_t site = 0; site < unit.size(); ++site) {
    if (Lattice::parity_of(with.lattice.site_coordinates(site)) != parity) continue;
    for (int c = 0; c < 3; ++c) {
      unit[site].c[c] = {1, 0};
      plain_hop(with.communicator, with.links, {}, tmp, unit, Parity::odd);
      expected += norm2(with.communicator, tmp, Parity::odd);
      unit[site].c[c] = {0, 0};
    }
  }
  return CHECK(end == LanczosEnd::complete) && CHECK(pairs.count() == 48) && CHECK(std::fabs(trace - expected) < 1e-10);
}

bool a_basis_may_fill_the_whole_space() {
  return a_basis_may_fill_the_whole_space_in_blocks_of(1) && a_basis_may_fill_the_whole_space_in_blocks_of(5);
}

}  // namespace

std::vector<UnitCheck> lanczos_checks() {
  return {UNIT_CHECK(polynomial_is_that_of_the_plain_operator),
          UNIT_CHECK(polynomial_orders_eigenvalues_below_its_interval),
          UNIT_CHECK(range_of_the_spectrum_counts_eigenvalues), UNIT_CHECK(an_interval_that_begins_too_low_is_widened),
          UNIT_CHECK(a_basis_may_fill_the_whole_space)};
}

}  // namespace staghorn
