#include "solver/krylov/coarse/block_basis.hpp"

#include <cmath>
#include <string>

#include "halo/watch/activity.hpp"
#include "halo/watch/error.hpp"
#include "solver/krylov/coarse/vectors/cuda_coarse.hpp"

namespace staghorn {

namespace {

// What orthogonalisation leaves of a piece that depends on those before it, over its norm.
constexpr double dependent = 1e-10;

}  // namespace

BlockBasis::BlockBasis(const BlockGrid& grid, int n) : grid_(grid), n_(n) {
  if (n < 1 || n > 3 * grid.sites())
    throw Error("vectors",
                "at most " + std::to_string(3 * grid.sites()) + ", the components of a block of " +
                    to_string(grid.block()) + " on even sites",
                n);
  numbers_ = Buffer(std::size_t(grid.count() * n * 2 * width()) * sizeof(double));
}

void BlockBasis::move_to(MemorySpace space) {
  if (space == numbers_.space()) return;
  const auto moved = [&](const void* data, std::size_t bytes) {
    Buffer there(bytes, space);
    there.copy_from(Buffer::view(static_cast<std::byte*>(const_cast<void*>(data)), bytes));
    return there;
  };
  std::vector<std::int64_t> origins;
  std::vector<std::int32_t> offsets;
  for (std::int64_t b = 0; b < grid_.count(); ++b)
    origins.push_back(grid_.site(b, parity, 0) - grid_.site(0, parity, 0));
  for (int i = 0; i < grid_.sites(); ++i) offsets.push_back(std::int32_t(grid_.site(0, parity, i)));
  origins_ = moved(origins.data(), origins.size() * sizeof origins[0]);
  offsets_ = moved(offsets.data(), offsets.size() * sizeof offsets[0]);
  numbers_ = moved(numbers_.data(), numbers_.bytes());
}

CudaBasis BlockBasis::on_gpu() const {
  return {at(0, 0),
          reinterpret_cast<const std::int64_t*>(origins_.data()),
          reinterpret_cast<const std::int32_t*>(offsets_.data()),
          grid_.sites(),
          n_,
          grid_.count(),
          width()};
}

double BlockBasis::predicted_bytes(const BlockGrid& grid, int n) {
  return double(grid.count()) * n * 2 * double(padded(3 * grid.sites())) * sizeof(double);
}

void BlockBasis::gather(const VectorField& v, std::int64_t block, double* to) const {
  for (int i = 0; i < grid_.sites(); ++i) {
    const ColorVector<double>& site = v[grid_.site(block, parity, i)];
    for (int c = 0; c < 3; ++c) {
      to[3 * i + c] = site.c[c].re;
      to[width() + 3 * i + c] = site.c[c].im;
    }
  }
}

void BlockBasis::scatter(const double* from, std::int64_t block, VectorField& v) const {
  for (int i = 0; i < grid_.sites(); ++i) {
    ColorVector<double>& site = v[grid_.site(block, parity, i)];
    for (int c = 0; c < 3; ++c) site.c[c] = {from[3 * i + c], from[width() + 3 * i + c]};
  }
}

void BlockBasis::set_column(int k, const VectorField& v) {
#pragma omp parallel for schedule(static)
  for (std::int64_t b = 0; b < grid_.count(); ++b) gather(v, b, at(b, k));
}

void BlockBasis::column(int k, VectorField& v) const {
#pragma omp parallel for schedule(static)
  for (std::int64_t b = 0; b < grid_.count(); ++b) scatter(at(b, k), b, v);
}

std::int64_t BlockBasis::orthonormalize() {
  const Activity activity("blocks made orthonormal");
  std::int64_t zero = 0;
#pragma omp parallel for schedule(static) reduction(+ : zero)
  for (std::int64_t b = 0; b < grid_.count(); ++b)
    for (int k = 0; k < n_; ++k) {
      double* const v = at(b, k);
      const double before = std::sqrt(dot_dense(v, v, width()).re);
      for (int pass = 0; pass < 2; ++pass)
        for (int j = 0; j < k; ++j) {
          const DensePair along = dot_dense(at(b, j), v, width());
          add_scaled(-along.re, -along.im, at(b, j), v, width());
        }
      const double left = std::sqrt(dot_dense(v, v, width()).re);
      const bool stays = left > dependent * before && left > 0 && std::isfinite(left);
      const double scale = stays ? 1 / left : 0;
      for (std::int64_t i = 0; i < 2 * width(); ++i) v[i] = stays ? scale * v[i] : 0;
      zero += !stays;
    }
  return zero;
}

void BlockBasis::restrict_to(const VectorField& v, CoarseVector& c, int rhs) const {
  if (space() == MemorySpace::cuda) return cuda_restrict(on_gpu(), v.data(), c, rhs);
#pragma omp parallel
  {
    std::vector<double> piece(std::size_t(2 * width()));
#pragma omp for schedule(static)
    for (std::int64_t b = 0; b < grid_.count(); ++b) {
      gather(v, b, piece.data());
      dot_columns(at(b, 0), width(), n_, piece.data(), c.at(b, rhs), c.width);
    }
  }
}

void BlockBasis::prolong(const CoarseVector& c, int rhs, VectorField& v) const {
  if (space() == MemorySpace::cuda) return cuda_prolong(on_gpu(), c, rhs, v.data());
#pragma omp parallel
  {
    std::vector<double> piece(std::size_t(2 * width()));
#pragma omp for schedule(static)
    for (std::int64_t b = 0; b < grid_.count(); ++b) {
      std::fill(piece.begin(), piece.end(), 0.0);
      add_columns(at(b, 0), width(), n_, c.at(b, rhs), c.width, piece.data());
      scatter(piece.data(), b, v);
    }
  }
}

}  // namespace staghorn
