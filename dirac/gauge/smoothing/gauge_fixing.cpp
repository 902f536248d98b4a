#include "dirac/gauge/smoothing/gauge_fixing.hpp"

#include "dirac/algebra/exact_sum.hpp"
#include "dirac/gauge/gauge_observables.hpp"
#include "dirac/gauge/smoothing/relaxation_site.hpp"
#include "dirac/gauge/smoothing/site_slabs.hpp"

namespace staghorn {

namespace {

using Matrix = ColorMatrix<double>;

STAGHORN_FMA_CLONES
void add_links(const LinkField& links, const NeighbourSites<Links>& behind, int mu, MatrixField& w, SiteSlab slab) {
  for (std::int64_t x = slab.begin; x < slab.end; ++x)
    add_links_of_site(w[x], links[x][std::size_t(mu)], behind[x][std::size_t(mu)]);
}

STAGHORN_FMA_CLONES
void measure(const MatrixField& w, SiteField<double>& traces, SiteField<double>& thetas, SiteSlab slab) {
  for (std::int64_t x = slab.begin; x < slab.end; ++x) {
    traces[x] = trace(w[x]).re;
    thetas[x] = site_theta(w[x]);
  }
}

// g(x) on sites of `parity`, from w(x); 1 on the others.
STAGHORN_FMA_CLONES
void choose_rotations(const MatrixField& w, Parity parity, double relaxation, MatrixField& g, SiteSlab slab) {
  for (std::int64_t x = slab.begin; x < slab.end; ++x)
    g[x] = Lattice::parity_of(g.lattice().site_coordinates(x)) == parity ? relaxation_at(w[x], relaxation)
                                                                         : identity_matrix<double>();
}

// Each link has one end of either parity.
STAGHORN_FMA_CLONES
void rotate(const MatrixField& g, const NeighbourSites<Matrix>& ahead, Parity parity, int mu, LinkField& links,
            SiteSlab slab) {
  for (std::int64_t x = slab.begin; x < slab.end; ++x) {
    Matrix& u = links[x][std::size_t(mu)];
    const bool here = Lattice::parity_of(g.lattice().site_coordinates(x)) == parity;
    u = here ? g[x] * u : u * adjoint(ahead[x]);
  }
}

// w(x) = sum over the directions of the gauge of U_mu(x) + U_mu(x-mu)^dagger
MatrixField links_of_sites(const Communicator& communicator, const LinkField& links, GaugeCondition condition) {
  MatrixField w(links.lattice());
  for (int mu = 0; mu < int(condition); ++mu) {
    const NeighbourSites<Links> behind(communicator, links, mu, -1);
    for_slabs(w.size(), [&](SiteSlab slab) { add_links(links, behind, mu, w, slab); });
  }
  return w;
}

}  // namespace

GaugeFunctional gauge_functional(const Communicator& communicator, const LinkField& links, GaugeCondition condition) {
  const MatrixField w = links_of_sites(communicator, links, condition);
  SiteField<double> traces(links.lattice()), thetas(links.lattice());
  for_slabs(w.size(), [&](SiteSlab slab) { measure(w, traces, thetas, slab); });
  const double count = 3.0 * double(links.lattice().global_volume());
  const auto sum = [&](const SiteField<double>& values) {
    return exact_sum(communicator, {values.data(), std::size_t(values.size())});
  };
  return {sum(traces) / (2 * int(condition) * count), sum(thetas) / count};  // w has each link twice
}

void relaxation_sweep(const Communicator& communicator, LinkField& links, GaugeCondition condition, double relaxation) {
  MatrixField g(links.lattice());
  for (const Parity parity : {Parity::even, Parity::odd}) {
    const MatrixField w = links_of_sites(communicator, links, condition);
    for_slabs(g.size(), [&](SiteSlab slab) { choose_rotations(w, parity, relaxation, g, slab); });
    for (int mu = 0; mu < 4; ++mu) {
      const NeighbourSites<Matrix> ahead(communicator, g, mu, +1);
      for_slabs(g.size(), [&](SiteSlab slab) { rotate(g, ahead, parity, mu, links, slab); });
    }
  }
  reunitarize(links);
}

}  // namespace staghorn
