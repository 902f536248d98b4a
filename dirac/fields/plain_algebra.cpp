#include "dirac/fields/plain_algebra.hpp"

#include <algorithm>
#include <cmath>

#include "dirac/algebra/exact_sum.hpp"
#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/fields/cuda_plain_vectors.hpp"
#include "dirac/fields/site_combination.hpp"
#include "halo/watch/error.hpp"

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

STAGHORN_FMA_CLONES
void divide_norms(ColorVector<double>* r, const ColorVector<double>* x, int n) {
  for (int k = 0; k < n; ++k) r[k] = norm_ratio(r[k], x[k]);
}

// Calls work(site) for the sites of one parity.
template <class Work>
void for_sites(const VectorField& v, Parity parity, const Work& work) {
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < v.size(); ++site)
    if (Lattice::parity_of(v.lattice().site_coordinates(site)) == parity) work(site);
}

#pragma omp declare reduction(merge:ExactPartial : omp_out.merge(omp_in))

}  // namespace

Norms2 norms2(const Communicator& communicator, const VectorField& a) {
  const Lattice& lattice = a.lattice();
  const int n = lattice.local()[0];
  const auto parity = [&](std::int64_t row) { return int(Lattice::parity_of(row_begin(lattice, row))); };
  const bool on_device = a.space() == MemorySpace::cuda;
  double largest[2] = {0, 0};
  if (on_device) {
    cuda_largest_norms2(a.data(), lattice.local(), largest);
  } else {
#pragma omp parallel for reduction(max : largest)
    for (std::int64_t row = 0; row < n_rows(lattice); ++row) find_largest(&a[row * n], n, parity(row), largest);
  }
  for (double& of_parity : largest) of_parity = communicator.max(of_parity);

  const SumGrid grids[3] = {SumGrid::for_bound(largest[0]), SumGrid::for_bound(largest[1]),
                            SumGrid::for_bound(std::max(largest[0], largest[1]))};
  ExactPartial sums[3];
  if (on_device) {
    cuda_add_norms2(a.data(), lattice.local(), grids, sums);
  } else {
#pragma omp parallel for reduction(merge : sums)
    for (std::int64_t row = 0; row < n_rows(lattice); ++row) add_norms(&a[row * n], n, parity(row), grids, sums);
  }
  double values[3]{};
  reduce(communicator, sums, grids, values);
  return {values[2], values[0], values[1]};
}

double norm2(const Communicator& communicator, const VectorField& a, std::optional<Parity> parity) {
  const Norms2 norms = norms2(communicator, a);
  return !parity ? norms.all : *parity == Parity::even ? norms.even : norms.odd;
}

double heavy_quark_residual(const Communicator& communicator, const VectorField& x, VectorField& r,
                            std::optional<Parity> parity) {
  const Lattice& lattice = r.lattice();
  const int n = lattice.local()[0];
  if (r.space() == MemorySpace::cuda) {
    cuda_divide_norms(r.data(), x.data(), lattice.local());
  } else {
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < n_rows(lattice); ++row) divide_norms(&r[row * n], &x[row * n], n);
  }
  const double sites = double(lattice.global_volume()) / (parity ? 2 : 1);
  return std::sqrt(norm2(communicator, r, parity) / sites);
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

void add(VectorField& y, double factor, const VectorField& a) {
  if (y.space() == MemorySpace::cuda)
    return cuda_combine(SiteCombination::plus_multiple, y.data(), a.data(), factor, y.lattice().local(), -1);
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < y.size(); ++site) y[site] = plus_multiple(y[site], factor, a[site]);
}

void multiply(VectorField& y, double factor, std::optional<Parity> parity) {
  if (y.space() == MemorySpace::cuda)
    return cuda_combine(SiteCombination::multiple, y.data(), y.data(), factor, y.lattice().local(),
                        parity ? int(*parity) : -1);
  for (const Parity each : {Parity::even, Parity::odd})
    if (!parity || *parity == each) for_sites(y, each, [&](std::int64_t site) { y[site] = multiple(factor, y[site]); });
}

void subtract_from_multiple(VectorField& y, double s, const VectorField& a, Parity parity) {
  if (y.space() == MemorySpace::cuda)
    return cuda_combine(SiteCombination::multiple_minus, y.data(), a.data(), s, y.lattice().local(), int(parity));
  for_sites(y, parity, [&](std::int64_t site) { y[site] = multiple_minus(s, a[site], y[site]); });
}

void divide_difference(VectorField& y, const VectorField& a, double s, Parity parity) {
  if (y.space() == MemorySpace::cuda)
    return cuda_combine(SiteCombination::difference_over, y.data(), a.data(), s, y.lattice().local(), int(parity));
  for_sites(y, parity, [&](std::int64_t site) { y[site] = difference_over(a[site], y[site], s); });
}

void clear_parity(VectorField& a, Parity parity) {
  if (a.space() == MemorySpace::cuda) return cuda_clear_parity(a.data(), a.lattice().local(), parity);
  for_sites(a, parity, [&](std::int64_t site) { a[site] = {}; });
}

bool is_zero(const Communicator& communicator, const VectorField& a) {
  if (a.space() == MemorySpace::cuda)
    return !communicator.any(cuda_first_not_zero(a.data(), a.lattice().local(), -1) < a.size());
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
  if (a.space() == MemorySpace::cuda)
    return cuda_first_not_zero(a.data(), a.lattice().local(), int(parity)) == a.size();
  bool found = false;
#pragma omp parallel for schedule(static) reduction(|| : found)
  for (std::int64_t site = 0; site < a.size(); ++site) {
    if (found) continue;
    for (const Complex<double>& c : a[site].c) found = found || c.re != 0 || c.im != 0;
    found = found && Lattice::parity_of(a.lattice().site_coordinates(site)) == parity;
  }
  return !found;
}

#ifndef STAGHORN_CUDA
namespace {
[[noreturn]] void refuse() { throw Error("this build of Staghorn has no vectors on GPUs"); }
}  // namespace

void cuda_largest_norms2(const ColorVector<double>*, const Extents&, double (&)[2]) { refuse(); }
void cuda_add_norms2(const ColorVector<double>*, const Extents&, const SumGrid (&)[3], ExactPartial (&)[3]) {
  refuse();
}
std::int64_t cuda_first_not_zero(const ColorVector<double>*, const Extents&, int) { refuse(); }
std::int64_t cuda_first_not_finite(const ColorVector<double>*, const Extents&, int) { refuse(); }
void cuda_clear_parity(ColorVector<double>*, const Extents&, Parity) { refuse(); }
void cuda_divide_norms(ColorVector<double>*, const ColorVector<double>*, const Extents&) { refuse(); }
void cuda_combine(SiteCombination, ColorVector<double>*, const ColorVector<double>*, double, const Extents&, int) {
  refuse();
}
void cuda_pack_plain(Precision, void*, int, const ColorVector<double>*, const Extents&, Parity, double) { refuse(); }
void cuda_unpack_plain(Precision, const void*, int, ColorVector<double>*, const Extents&, Parity) { refuse(); }
void cuda_add_plain(Precision, const void*, int, double, ColorVector<double>*, const Extents&, Parity) { refuse(); }
#endif

}  // namespace staghorn
