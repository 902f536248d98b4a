#include "solver/krylov/coarse/coarse_vector.hpp"

#include "dirac/algebra/exact_sum.hpp"

namespace staghorn {

namespace {

int column(const CoarseVector& v, int rhs) { return v.n_rhs == 1 ? 0 : rhs; }

// Of [block][group], on grids that are given. Returns whether they were large enough.
bool sum_on_grids(const Communicator& communicator, const std::vector<double>& parts, std::span<const SumGrid> grids,
                  std::vector<double>& sums) {
  const std::size_t n = grids.size();
  const std::int64_t blocks = std::int64_t(parts.size() / n);
  std::vector<ExactPartial> partials(n);
#pragma omp parallel
  {
    std::vector<ExactPartial> mine(n);
#pragma omp for nowait schedule(static)
    for (std::int64_t block = 0; block < blocks; ++block)
      for (std::size_t i = 0; i < n; ++i) mine[i].add(parts[std::size_t(block) * n + i], grids[i]);
#pragma omp critical(staghorn_coarse_sums)
    for (std::size_t i = 0; i < n; ++i) partials[i].merge(mine[i]);
  }
  bool overflow = false;
  sums.resize(n);
  reduce(communicator, partials, grids, sums, &overflow);
  return !overflow;
}

}  // namespace

std::vector<Complex<double>> coarse_dots(const Communicator& communicator, std::span<const CoarseVector* const> a,
                                         const CoarseVector& b, std::span<const double> about) {
  const std::size_t n_rhs = std::size_t(b.n_rhs), n = a.size() * n_rhs;
  std::vector<double> parts(2 * n * std::size_t(b.blocks));
#pragma omp parallel for schedule(static)
  for (std::int64_t block = 0; block < b.blocks; ++block)
    for (std::size_t k = 0; k < a.size(); ++k)
      for (int rhs = 0; rhs < b.n_rhs; ++rhs) {
        const DensePair product = dot_dense(a[k]->at(block, column(*a[k], rhs)), b.at(block, rhs), b.width);
        double* const place = &parts[2 * (n * std::size_t(block) + k * n_rhs + std::size_t(rhs))];
        place[0] = product.re, place[1] = product.im;
      }
  std::vector<double> sums;
  std::vector<SumGrid> grids;
  for (std::size_t i = 0; i < 2 * n && !about.empty(); ++i) grids.push_back(SumGrid::for_bound(0x1p10 * about[i / 2]));
  if (grids.empty() || !sum_on_grids(communicator, parts, grids, sums)) {
    std::vector<std::int32_t> groups(parts.size());
    for (std::size_t i = 0; i < groups.size(); ++i) groups[i] = std::int32_t(i % (2 * n));
    sums = exact_sums(communicator, parts, groups, 2 * n);
  }
  std::vector<Complex<double>> dots;
  for (std::size_t i = 0; i < n; ++i) dots.push_back({sums[2 * i], sums[2 * i + 1]});
  return dots;
}

void add_scaled(std::span<const Complex<double>> factor, const CoarseVector& w, CoarseVector& v) {
#pragma omp parallel for schedule(static)
  for (std::int64_t block = 0; block < v.blocks; ++block)
    for (int rhs = 0; rhs < v.n_rhs; ++rhs) {
      const Complex<double>& f = factor[std::size_t(rhs)];
      add_scaled(f.re, f.im, w.at(block, column(w, rhs)), v.at(block, rhs), v.width);
    }
}

}  // namespace staghorn
