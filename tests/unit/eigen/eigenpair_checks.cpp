// The certificate of eigenpairs, on free fields whose eigenvectors are plane waves: it accepts them, and sees a value
// that is wrong, a vector that is wrong and a vector that comes twice.
#include <cmath>
#include <numbers>

#include "dirac/fields/plain_algebra.hpp"
#include "dirac/kernels/kernel_table.hpp"
#include "solver/eigen/eigenpair_certificate.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

constexpr double lowest = 0.58578643762690495;  // 4 sin^2(pi/8) = 2 - sqrt(2)

// The plane wave of momentum p and one colour on even sites, with norm 1.
VectorField plane_wave(const Lattice& lattice, const std::array<double, 4>& p, int color) {
  VectorField v(lattice);
  const double norm = std::sqrt(2.0 / double(lattice.global_volume()));
  for (std::int64_t site = 0; site < v.size(); ++site) {
    const Coordinates x = lattice.to_global(lattice.site_coordinates(site));
    if ((x[0] + x[1] + x[2] + x[3]) % 2 != 0) continue;
    double angle = 0;
    for (int mu = 0; mu < 4; ++mu) angle += p[mu] * x[mu];
    v[site].c[color] = {norm * std::cos(angle), norm * std::sin(angle)};
  }
  return v;
}

// 18 of the 48 lowest pairs of the free field on 4x4x4x8, antiperiodic in t: two blocks.
struct FreePairs {
  explicit FreePairs(Precision precision)
      : layout(cpu_kernels().layout(lattice, precision)), algebra(communicator, layout, cpu_kernels()), links(lattice) {
    for (std::int64_t site = 0; site < links.size(); ++site)
      for (auto& link : links[site])
        for (int i = 0; i < 3; ++i) link.e[i][i] = {1, 0};
    for (const int n_rhs : {16, 2}) pairs.blocks.emplace_back(layout, precision, n_rhs);
    for (int corner = 0; corner < 3; ++corner)
      for (const int sign : {1, -1})
        for (int color = 0; color < 3; ++color) {
          std::array<double, 4> p{0, 0, 0, sign * std::numbers::pi / 8};
          if (corner > 0) p[std::size_t(corner) - 1] = std::numbers::pi;
          put(int(pairs.count()), plane_wave(lattice, p, color));
          pairs.values.push_back(lowest);
        }
  }
  void put(int i, const VectorField& v) {
    pairs.blocks[std::size_t(i) / Eigenpairs::vectors_per_block].pack(Parity::even, i % Eigenpairs::vectors_per_block,
                                                                      v);
  }
  EigenpairCertificate certify() { return certify_eigenpairs(communicator, links, {}, algebra, pairs); }

  Communicator communicator{MPI_COMM_SELF};
  Lattice lattice{{4, 4, 4, 8}, {1, 1, 1, 1}, 0};
  SiteLayout layout;
  VectorAlgebra algebra;
  LinkField links;
  Eigenpairs pairs;
};

bool eigenpairs_of_free_fields_are_certified() {
  const struct {
    Precision precision;
    double bound;
  } cases[] = {{Precision::fp64, 1e-14}, {Precision::fp32, 1e-6}, {Precision::fp16, 2e-4}};
  for (const auto& [precision, bound] : cases) {
    FreePairs free(precision);
    const EigenpairCertificate found = free.certify();
    if (!(CHECK(free.pairs.residuals.size() == 18) && CHECK(found.largest_residual < bound) &&
          CHECK(found.largest_residual > bound * 1e-4) && CHECK(found.orthogonality < bound)))
      return false;
  }
  return true;
}

bool certificate_of_eigenpairs_sees_what_is_wrong() {
  FreePairs free(Precision::fp64);
  free.pairs.values[17] = 0.6;
  EigenpairCertificate found = free.certify();
  if (!(CHECK(std::abs(free.pairs.residuals[17] - (0.6 - lowest)) < 1e-14) && CHECK(found.orthogonality < 1e-14) &&
        CHECK(found.largest_residual == free.pairs.residuals[17])))
    return false;
  free.pairs.values[17] = lowest;
  free.put(17, plane_wave(free.lattice, {0, 0, 0, std::numbers::pi / 8}, 0));  // once more
  found = free.certify();
  if (!(CHECK(found.largest_residual < 1e-14) && CHECK(std::abs(found.orthogonality - 1) < 1e-14))) return false;
  free.put(17, plane_wave(free.lattice, {0, 0, 0, 3 * std::numbers::pi / 8}, 0));  // of the value 2 + sqrt(2)
  found = free.certify();
  if (!(CHECK(std::abs(found.largest_residual - std::sqrt(8)) < 1e-13))) return false;
  free.pairs.values.pop_back();
  try {
    free.certify();
  } catch (const std::exception& error) {
    return CHECK(std::string(error.what()).find("18 vectors and 17 values") != std::string::npos);
  }
  return false;
}

}  // namespace

std::vector<UnitCheck> eigenpair_checks() {
  return {UNIT_CHECK(eigenpairs_of_free_fields_are_certified),
          UNIT_CHECK(certificate_of_eigenpairs_sees_what_is_wrong)};
}

}  // namespace staghorn
