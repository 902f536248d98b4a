// The conserved current, with Naik terms and without, fulfils its Ward identity at each site, for any fields:
//
//   sum_mu [J_mu(x) - J_mu(x-mu)] = phi^dagger(x) b(x) - c^dagger(x) psi(x),   c = (2m - D) phi,   b = (2m + D) psi
#include <cmath>
#include <cstdio>

#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "solver/observables/link_currents.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

double size_of(const Complex<double>& z) { return std::hypot(z.re, z.im); }

VectorField random_vector(const Lattice& lattice, std::uint64_t first) {
  VectorField v(lattice);
  for (std::int64_t site = 0; site < v.size(); ++site) {
    RandomStream random = test_stream(first + std::uint64_t(site));
    for (auto& component : v[site].c) component = complex_gaussian(random);
  }
  return v;
}

// (2m + sign D) v
VectorField operated(const Communicator& communicator, const OperatorLinks& links, const Boundary& boundary, double m,
                     double sign, const VectorField& v) {
  VectorField out(v.lattice());
  plain_hop(communicator, links, boundary, out, v);
  for (std::int64_t site = 0; site < v.size(); ++site)
    for (int c = 0; c < 3; ++c) out[site].c[c] = 2 * m * v[site].c[c] + sign * out[site].c[c];
  return out;
}

// The largest violation of the identity at a site, relative to the sizes of its terms there.
double violation(const OperatorLinks& links, const char* conditions) {
  const Communicator communicator(MPI_COMM_SELF);
  const Lattice& lattice = links.lattice();
  const Boundary boundary = parse_boundary(conditions);
  const double m = 0.3;
  const VectorField phi = random_vector(lattice, 5000000), psi = random_vector(lattice, 6000000);
  const VectorField b = operated(communicator, links, boundary, m, +1, psi),
                    c = operated(communicator, links, boundary, m, -1, phi);
  std::vector<Complex<double>> difference(std::size_t(phi.size()));
  std::vector<double> sizes(std::size_t(phi.size()));
  for (std::int64_t site = 0; site < phi.size(); ++site) {
    const Complex<double> in = dot(phi[site], b[site]), out = dot(c[site], psi[site]);
    difference[std::size_t(site)] = out - in;
    sizes[std::size_t(site)] = size_of(in) + size_of(out);
  }
  for (int mu = 0; mu < 4; ++mu) {
    const auto current = conserved_current(communicator, links, boundary, mu, phi, psi);
    const NeighbourSites<Complex<double>> behind(communicator, current, mu, -1);
    for (std::int64_t site = 0; site < phi.size(); ++site) {
      Complex<double>& d = difference[std::size_t(site)];
      d = d + current[site] - behind[site];
      sizes[std::size_t(site)] += size_of(current[site]) + size_of(behind[site]);
    }
  }
  double worst = 0;
  for (std::size_t site = 0; site < sizes.size(); ++site)
    worst = std::max(worst, size_of(difference[site]) / sizes[site]);
  return worst;
}

bool conserved_current_fulfils_its_ward_identity() {
  bool holds = true;
  for (const char* conditions : {"periodic,periodic,periodic,antiperiodic", "0.3,-0.5,antiperiodic,0.125"}) {
    const Lattice lattice({4, 6, 8, 10}, {1, 1, 1, 1}, 0);
    LinkField thin(lattice), fat(lattice), naik(lattice);
    make_random(thin);
    make_random_improved(fat, naik);
    const double naive = violation(thin, conditions), improved = violation({fat, naik, -0.17}, conditions);
    std::printf("%s: naive %.1e, with Naik terms %.1e\n", conditions, naive, improved);
    holds = holds && naive <= 1e-13 && improved <= 1e-13;
  }
  return holds;
}

}  // namespace

std::vector<UnitCheck> current_checks() { return {UNIT_CHECK(conserved_current_fulfils_its_ward_identity)}; }

}  // namespace staghorn
