#include "dirac/gauge_observables.hpp"

#include <algorithm>
#include <cmath>

#include "dirac/exact_sum.hpp"
#include "dirac/plaquette_paths.hpp"
#include "halo/phase.hpp"

namespace staghorn {

namespace {

using Matrix = ColorMatrix<double>;

// Adds the traces of the plaquettes in the plane of mu and nu to sums[x] for the sites from `begin` to `end`.
STAGHORN_FMA_CLONES
void add_plaquettes(const LinkField& links, const NeighbourSites<Links>& ahead_mu,
                    const NeighbourSites<Links>& ahead_nu, int mu, int nu, double* sums, std::int64_t begin,
                    std::int64_t end) {
  for (std::int64_t x = begin; x < end; ++x)
    sums[x] += real_trace_plaquette(links[x][mu], ahead_mu[x][nu], links[x][nu], ahead_nu[x][mu]);
}

STAGHORN_INLINE double magnitude(double re, double im) { return std::sqrt(multiply_add(re, re, im * im)); }

// The larger of both; once NaN, always NaN.
STAGHORN_INLINE void grow(double& largest, double value) {
  if (value > largest || std::isnan(value)) largest = value;
}

// The largest |(U U^dagger - 1)_ij| and |det U - 1| of one link; NaN stays NaN.
STAGHORN_FMA_CLONES
void deviations(const Matrix& u, double& unitarity, double& determinant_deviation) {
  const Matrix product = u * adjoint(u);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const double deviation = magnitude(product.e[i][j].re - (i == j), product.e[i][j].im);
      grow(unitarity, deviation);
    }
  const Complex<double> det = determinant(u);
  const double deviation = magnitude(det.re - 1, det.im);
  grow(determinant_deviation, deviation);
}

STAGHORN_FMA_CLONES
void project(Links& links) {
  for (Matrix& u : links) project_su3(u);
}

STAGHORN_FMA_CLONES
void transform(Matrix& u, const Matrix& g, const Matrix& g_ahead) { u = g * (u * adjoint(g_ahead)); }

// Work for one thread at a time: sites of a slab small enough to balance, large enough not to matter.
constexpr std::int64_t sites_per_slab = 256;

}  // namespace

Plaquette plaquette(const Communicator& communicator, const LinkField& links) {
  const std::int64_t n = links.size();
  std::vector<double> space(std::size_t(n), 0.0), time(std::size_t(n), 0.0);
  for (int mu = 0; mu < 4; ++mu) {
    const NeighbourSites<Links> ahead_mu(communicator, links, mu, +1);
    for (int nu = mu + 1; nu < 4; ++nu) {
      const NeighbourSites<Links> ahead_nu(communicator, links, nu, +1);
      double* sums = nu == 3 ? time.data() : space.data();
#pragma omp parallel for
      for (std::int64_t x = 0; x < n; x += sites_per_slab) {
        add_plaquettes(links, ahead_mu, ahead_nu, mu, nu, sums, x, std::min(n, x + sites_per_slab));
        made_progress();
      }
    }
  }
  return mean_plaquette(communicator, links.lattice(), space, time);
}

Plaquette mean_plaquette(const Communicator& communicator, const Lattice& lattice, std::span<const double> space,
                         std::span<const double> time) {
  // Three planes of each kind, three colours.
  const double count = 9.0 * double(lattice.global_volume());
  Plaquette result;
  result.space = exact_sum(communicator, space) / count;
  result.time = exact_sum(communicator, time) / count;
  result.all = (result.space + result.time) / 2;
  return result;
}

std::complex<double> link_trace(const Communicator& communicator, const LinkField& links) {
  std::vector<double> re(std::size_t(links.size()), 0.0), im(re);
#pragma omp parallel for
  for (std::int64_t x = 0; x < links.size(); ++x)
    for (int mu = 0; mu < 4; ++mu) {
      const Complex<double> t = trace(links[x][mu]);
      re[x] += t.re;
      im[x] += t.im;
    }
  const double count = 12.0 * double(links.lattice().global_volume());
  return {exact_sum(communicator, re) / count, exact_sum(communicator, im) / count};
}

UnitarityCheck check_unitarity(const Communicator& communicator, const LinkField& links) {
  double unitarity = 0, determinant_deviation = 0;
#pragma omp parallel
  {
    double mine = 0, mine_determinant = 0;
#pragma omp for nowait
    for (std::int64_t x = 0; x < links.size(); ++x)
      for (const Matrix& u : links[x]) deviations(u, mine, mine_determinant);
#pragma omp critical(staghorn_check_unitarity)
    {
      grow(unitarity, mine);
      grow(determinant_deviation, mine_determinant);
    }
  }
  UnitarityCheck check;
  check.max_deviation = communicator.max(unitarity);
  check.max_determinant_deviation = communicator.max(determinant_deviation);
  check.finite = std::isfinite(check.max_deviation) && std::isfinite(check.max_determinant_deviation);
  return check;
}

void reunitarize(LinkField& links) {
#pragma omp parallel for
  for (std::int64_t x = 0; x < links.size(); ++x) project(links[x]);
}

void gauge_transform(const Communicator& communicator, LinkField& links, const MatrixField& g) {
  for (int mu = 0; mu < 4; ++mu) {
    const NeighbourSites<Matrix> ahead(communicator, g, mu, +1);
#pragma omp parallel for
    for (std::int64_t x = 0; x < links.size(); ++x) transform(links[x][mu], g[x], ahead[x]);
  }
}

}  // namespace staghorn
