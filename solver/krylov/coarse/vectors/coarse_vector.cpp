#include "solver/krylov/coarse/vectors/coarse_vector.hpp"

#include <algorithm>
#include <cmath>

#include "dirac/algebra/exact_sum.hpp"
#include "halo/watch/error.hpp"
#include "solver/krylov/coarse/vectors/cuda_coarse.hpp"

namespace staghorn {

namespace {

int column(const CoarseVector& v, int rhs) { return v.n_rhs == 1 ? 0 : rhs; }

// Real and imaginary parts of the dot products of each block, on the host: [block][k][right-hand side][part].
std::vector<double> parts_of(std::span<const CoarseVector* const> a, const CoarseVector& b) {
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
  return parts;
}

std::vector<double> largest_of(const std::vector<double>& parts, std::size_t n) {
  std::vector<double> largest(n);
  for (std::size_t i = 0; i < parts.size(); ++i)
    largest[i % n] = std::max(largest[i % n], std::fabs(parts[i]));  // passes over NaN
  return largest;
}

std::vector<ExactPartial> sums_of(const std::vector<double>& parts, std::span<const SumGrid> grids) {
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
  return partials;
}

}  // namespace

std::vector<Complex<double>> coarse_dots(const CoarseSums& sums, std::span<const CoarseVector* const> a,
                                         const CoarseVector& b, std::span<const double> about) {
  const std::size_t n = 2 * a.size() * std::size_t(b.n_rhs);
  const bool on_gpu = b.space() == MemorySpace::cuda;
  const std::vector<double> parts = on_gpu ? std::vector<double>() : parts_of(a, b);
  std::vector<double> values(n);
  std::vector<SumGrid> grids;
  bool overflow = true;
  const auto sum_on_grids = [&] {
    std::vector<ExactPartial> partials = on_gpu ? cuda_sums(sums, a, b, grids) : sums_of(parts, grids);
    reduce(sums.communicator, partials, grids, values, &overflow);
  };
  for (std::size_t i = 0; i < n && !about.empty(); ++i) grids.push_back(SumGrid::for_bound(0x1p10 * about[i / 2]));
  if (!grids.empty()) sum_on_grids();
  if (overflow) {
    std::vector<double> largest = on_gpu ? cuda_largest(sums, a, b) : largest_of(parts, n);
    sums.communicator.max(largest);
    grids.clear();
    for (const double bound : largest) grids.push_back(SumGrid::for_bound(bound));
    sum_on_grids();
  }
  std::vector<Complex<double>> dots;
  for (std::size_t i = 0; i < n; i += 2) dots.push_back({values[i], values[i + 1]});
  return dots;
}

void add_scaled(std::span<const Complex<double>> factor, const CoarseVector& w, CoarseVector& v, double own) {
  if (v.space() == MemorySpace::cuda) return cuda_add_scaled(factor, w, v, own);
#pragma omp parallel for schedule(static)
  for (std::int64_t block = 0; block < v.blocks; ++block)
    for (int rhs = 0; rhs < v.n_rhs; ++rhs) {
      const Complex<double>& f = factor[std::size_t(rhs)];
      double* const to = v.at(block, rhs);
      for (std::int64_t i = 0; i < 2 * v.width && own != 1; ++i) to[i] *= own;
      add_scaled(f.re, f.im, w.at(block, column(w, rhs)), to, v.width);
    }
}

#ifndef STAGHORN_CUDA
namespace {
[[noreturn]] void refuse() { throw Error("this build of Staghorn has no blocks on GPUs"); }
}  // namespace

std::vector<double> cuda_largest(const CoarseSums&, std::span<const CoarseVector* const>, const CoarseVector&) {
  refuse();
}
std::vector<ExactPartial> cuda_sums(const CoarseSums&, std::span<const CoarseVector* const>, const CoarseVector&,
                                    std::span<const SumGrid>) {
  refuse();
}
void cuda_add_scaled(std::span<const Complex<double>>, const CoarseVector&, CoarseVector&, double) { refuse(); }
void cuda_next_direction(const CoarseSums&, const CoarseVector&, std::span<const CoarseVector>,
                         std::span<const Complex<double>>, std::span<const double>, std::span<const char>,
                         CoarseVector&) {
  refuse();
}
void cuda_apply_matrix(const CudaMatrix&, const CoarseVector&, const double*, CoarseVector&) { refuse(); }
void cuda_restrict(const CudaBasis&, const ColorVector<double>*, CoarseVector&, int) { refuse(); }
void cuda_prolong(const CudaBasis&, const CoarseVector&, int, ColorVector<double>*) { refuse(); }
#endif

}  // namespace staghorn
