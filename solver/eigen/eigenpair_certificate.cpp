#include "solver/eigen/eigenpair_certificate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "dirac/fields/plain_algebra.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

// The larger of two, where NaN is larger than all numbers.
double worse(double a, double b) { return std::isnan(a) || std::isnan(b) ? not_a_number : std::max(a, b); }

void require_whole(const Eigenpairs& pairs) {
  std::size_t vectors = 0;
  for (const ColorVectorField& block : pairs.blocks) vectors += std::size_t(block.n_rhs());
  if (pairs.count() == 0 || vectors != pairs.count())
    throw Error("eigenpairs", "a vector for each value, and one pair at least",
                std::to_string(vectors) + " vectors and " + std::to_string(pairs.count()) + " values");
}

// The largest |(V^+ V - 1)_ij|.
double departure_from_orthonormal(const VectorAlgebra& algebra, const std::vector<ColorVectorField>& blocks) {
  double largest = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    for (std::size_t j = i; j < blocks.size(); ++j) {
      const ColorVectorField *left[] = {&blocks[i]}, *right[] = {&blocks[j]};
      const ComplexMatrix product = i == j ? algebra.gram(left) : algebra.gram(left, right);
      for (int a = 0; a < product.rows; ++a)
        for (int b = 0; b < product.columns; ++b)
          largest = worse(largest, std::hypot(product(a, b).re - (i == j && a == b ? 1 : 0), product(a, b).im));
    }
  return largest;
}

}  // namespace

EigenpairCertificate certify_eigenpairs(const Communicator& communicator, const OperatorLinks& links,
                                        const Boundary& boundary, const VectorAlgebra& algebra, Eigenpairs& pairs,
                                        Eigenvalues values) {
  require_whole(pairs);
  const MemorySpace space = links.near.space();
  std::vector<VectorField> plain;  // v, lambda v, and their residual
  communicator.agree([&] {
    for (int i = 0; i < 3; ++i) plain.emplace_back(links.lattice(), space);
  });
  auto &v = plain[0], &lambda_v = plain[1], &r = plain[2];

  EigenpairCertificate found;
  pairs.residuals.clear();
  for (const ColorVectorField& block : pairs.blocks)
    for (int rhs = 0; rhs < block.n_rhs(); ++rhs) {
      double& lambda = pairs.values[pairs.residuals.size()];
      block.unpack(pairs.parity, rhs, v);
      clear_parity(lambda_v, pairs.parity);
      // What was stated leaves no trace in a value that is found anew, nor in its residual.
      if (values == Eigenvalues::as_given) block.add_to(pairs.parity, rhs, lambda, lambda_v);
      // lambda v - K v is the residual of the mass 0
      double r2 = parity_residual(communicator, links, boundary, 0, pairs.parity, v, lambda_v, r);
      if (values == Eigenvalues::recomputed) {  // on the other parity r is D v
        const double quotient = norm2(communicator, r, opposite(pairs.parity)) / norm2(communicator, v, pairs.parity);
        add(r, quotient, v);
        r2 = norm2(communicator, r, pairs.parity);
        found.largest_change = worse(found.largest_change, std::fabs(quotient - lambda));
        lambda = quotient <= eigenvalue_of_rounding(block.precision()) ? 0 : quotient;
      }
      pairs.residuals.push_back(std::sqrt(r2));
      found.largest_residual = worse(found.largest_residual, pairs.residuals.back());
    }
  found.orthogonality = departure_from_orthonormal(algebra, pairs.blocks);
  return found;
}

// |K| is some 20 on configurations of interest, and at most 64 of naive quarks.
constexpr double largest_norm = 64;

double residual_of_rounding(Precision precision) {
  return largest_norm * (precision == Precision::fp64 ? 0x1p-50 : precision == Precision::fp32 ? 0x1p-22 : 0x1p-14);
}

double eigenvalue_of_rounding(Precision precision) {
  const double residual = residual_of_rounding(precision);
  return residual * residual / largest_norm;
}

void sort_by_value(const Communicator& communicator, Eigenpairs& pairs) {
  constexpr std::size_t per_block = Eigenpairs::vectors_per_block;
  const auto before = [&](std::size_t a, std::size_t b) { return pairs.values[a] < pairs.values[b]; };
  std::vector<std::size_t> order(pairs.count());  // order[i]: the place of what belongs to i
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (std::is_sorted(order.begin(), order.end(), before)) return;
  std::stable_sort(order.begin(), order.end(), before);
  std::vector<VectorField> plain;
  communicator.agree([&] {
    for (int i = 0; i < 2; ++i) plain.emplace_back(pairs.layout->lattice());
  });
  const auto take = [&](std::size_t i, VectorField& v) {
    pairs.blocks[i / per_block].unpack_exactly(pairs.parity, int(i % per_block), v);
  };
  const auto put = [&](std::size_t i, const VectorField& v) {
    pairs.blocks[i / per_block].pack_exactly(pairs.parity, int(i % per_block), v);
  };
  std::vector<double> values, residuals;
  for (const std::size_t from : order) {
    values.push_back(pairs.values[from]);
    if (!pairs.residuals.empty()) residuals.push_back(pairs.residuals[from]);
  }
  pairs.values = std::move(values), pairs.residuals = std::move(residuals);
  for (std::size_t first = 0; first < order.size(); ++first) {  // one cycle of vectors after the other
    if (order[first] == first) continue;
    take(first, plain[0]);
    std::size_t to = first;
    for (; order[to] != first; to = std::exchange(order[to], to)) {
      take(order[to], plain[1]);
      put(to, plain[1]);
    }
    put(to, plain[0]);
    order[to] = to;
  }
}

}  // namespace staghorn
