#include "dirac/fields/plain_algebra.hpp"

#include <algorithm>

#include "dirac/algebra/exact_sum.hpp"
#include "dirac/algebra/su3_matrix.hpp"

namespace staghorn {

namespace {

// The largest contribution of each parity, and the contributions to the sums over even, odd and all sites. `parity` is
// that of the first of the n sites of a row.
STAGHORN_FMA_CLONES
void find_largest(const ColorVector<double>* row, int n, int parity, double (&largest)[2]) {
  for (int x = 0; x < n; ++x) {
    double& found = largest[(parity + x) & 1];
    found = std::max(found, norm2(row[x]));  // passes over NaN
  }
}
STAGHORN_FMA_CLONES
void add_norms(const ColorVector<double>* row, int n, int parity, const SumGrid (&grids)[3], ExactPartial (&sums)[3]) {
  for (int x = 0; x < n; ++x) {
    const double contribution = norm2(row[x]);
    for (const int sum : {(parity + x) & 1, 2}) sums[sum].add(contribution, grids[sum]);
  }
}

#pragma omp declare reduction(merge:ExactPartial : omp_out.merge(omp_in))

}  // namespace

Norms2 norms2(const Communicator& communicator, const VectorField& a) {
  const Lattice& lattice = a.lattice();
  const int n = lattice.local()[0];
  const auto parity = [&](std::int64_t row) { return int(Lattice::parity_of(row_begin(lattice, row))); };
  double largest[2] = {0, 0};
#pragma omp parallel for reduction(max : largest)
  for (std::int64_t row = 0; row < n_rows(lattice); ++row) find_largest(&a[row * n], n, parity(row), largest);
  for (double& of_parity : largest) of_parity = communicator.max(of_parity);

  const SumGrid grids[3] = {SumGrid::for_bound(largest[0]), SumGrid::for_bound(largest[1]),
                            SumGrid::for_bound(std::max(largest[0], largest[1]))};
  ExactPartial sums[3];
#pragma omp parallel for reduction(merge : sums)
  for (std::int64_t row = 0; row < n_rows(lattice); ++row) add_norms(&a[row * n], n, parity(row), grids, sums);
  double values[3];
  reduce(communicator, sums, grids, values);
  return {values[2], values[0], values[1]};
}

double norm2(const Communicator& communicator, const VectorField& a, std::optional<Parity> parity) {
  const Norms2 norms = norms2(communicator, a);
  return !parity ? norms.all : *parity == Parity::even ? norms.even : norms.odd;
}

Complex<double> dot(const Communicator& communicator, const VectorField& a, const VectorField& b) {
  std::vector<double> re(std::size_t(a.size())), im(re.size());
#pragma omp parallel for
  for (std::int64_t site = 0; site < a.size(); ++site) {
    const Complex<double> product = dot(a[site], b[site]);
    re[site] = product.re;
    im[site] = product.im;
  }
  return {exact_sum(communicator, re), exact_sum(communicator, im)};
}

bool is_zero(const Communicator& communicator, const VectorField& a) {
  const int n = a.lattice().local()[0];
  bool found = false;
#pragma omp parallel for reduction(|| : found)
  for (std::int64_t row = 0; row < n_rows(a.lattice()); ++row) {
    if (found) continue;
    for (std::int64_t site = row * n; site < (row + 1) * n; ++site)
      for (const Complex<double>& c : a[site].c) found |= (c.re != 0) | (c.im != 0);
  }
  return !communicator.any(found);
}

bool is_zero_on(Parity parity, const VectorField& a) {
  bool found = false;
#pragma omp parallel for schedule(static) reduction(|| : found)
  for (std::int64_t site = 0; site < a.size(); ++site) {
    if (found) continue;
    for (const Complex<double>& c : a[site].c) found = found || c.re != 0 || c.im != 0;
    found = found && Lattice::parity_of(a.lattice().site_coordinates(site)) == parity;
  }
  return !found;
}

}  // namespace staghorn
