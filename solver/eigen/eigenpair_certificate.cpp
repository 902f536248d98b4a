#include "solver/eigen/eigenpair_certificate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

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
                                        const Boundary& boundary, const VectorAlgebra& algebra, Eigenpairs& pairs) {
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
      const double lambda = pairs.values[pairs.residuals.size()];
      block.unpack(pairs.parity, rhs, v);
      clear_parity(lambda_v, pairs.parity);
      block.add_to(pairs.parity, rhs, lambda, lambda_v);
      // lambda v - K v is the residual of the mass 0
      const double r2 = parity_residual(communicator, links, boundary, 0, pairs.parity, v, lambda_v, r);
      pairs.residuals.push_back(std::sqrt(r2));
      found.largest_residual = worse(found.largest_residual, pairs.residuals.back());
    }
  found.orthogonality = departure_from_orthonormal(algebra, pairs.blocks);
  return found;
}

}  // namespace staghorn
