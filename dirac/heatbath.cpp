#include "dirac/heatbath.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "dirac/gauge_observables.hpp"
#include "dirac/philox.hpp"
#include "dirac/su2_subgroup.hpp"
#include "dirac/su3_matrix.hpp"
#include "halo/error.hpp"

namespace staghorn {

namespace {

using Matrix = ColorMatrix<double>;
using Sites = std::span<const std::int64_t>;

enum class Update { heatbath, overrelaxation };

// path(x) += U_nu(x) U_mu(x+nu) U_nu(x+mu)^dagger: from x to x+mu around the plaquette ahead
STAGHORN_FMA_CLONES
void add_paths_ahead(const LinkField& links, const NeighbourSites<Links>& ahead_mu,
                     const NeighbourSites<Links>& ahead_nu, int mu, int nu, Sites sites, MatrixField& path) {
  for (const std::int64_t x : sites) add_product(path[x], links[x][nu] * ahead_nu[x][mu], adjoint(ahead_mu[x][nu]));
}

// path_behind(y) = U_nu(y)^dagger U_mu(y) U_nu(y+mu): what the link at y+nu sees of the plaquette behind it
STAGHORN_FMA_CLONES
void make_paths_behind(const LinkField& links, const NeighbourSites<Links>& ahead_mu, int mu, int nu, Sites sites,
                       MatrixField& path_behind) {
  for (const std::int64_t y : sites) path_behind[y] = adjoint(links[y][nu]) * links[y][mu] * ahead_mu[y][nu];
}

STAGHORN_FMA_CLONES
void add_paths_behind(const NeighbourSites<Matrix>& behind_nu, Sites sites, MatrixField& path) {
  for (const std::int64_t x : sites) {
    const Matrix& p = behind_nu[x];
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) path[x].e[i][j] = path[x].e[i][j] + p.e[i][j];
  }
}

// g with h = g v distributed as exp(beta k h0 / 3)
STAGHORN_FMA_CLONES
void heatbath_links(LinkField& links, int mu, const HeatbathParameters& parameters, std::uint32_t sweep, Sites sites,
                    const MatrixField& path) {
  const Lattice& lattice = links.lattice();
  for (const std::int64_t x : sites) {
    const std::uint64_t global =
        std::uint64_t(lattice.global_site_index(lattice.to_global(lattice.site_coordinates(x))));
    Matrix& u = links[x][mu];
    Matrix w = u * adjoint(path[x]);
    for (int s = 0; s < 3; ++s) {
      RandomStream random(parameters.seed, RandomPurpose::heatbath, sweep, global, std::uint32_t(3 * mu + s));
      double k;
      const Su2 v = project_block(w, su3_subgroups[s], k);
      const Su2 g = random_su2(parameters.beta / 3 * k, random) * adjoint(v);
      multiply_rows(u, su3_subgroups[s], g);
      multiply_rows(w, su3_subgroups[s], g);
    }
  }
}

// g = v^dagger v^dagger: h = v^dagger has the h0 of v, so the action stays while the link moves as far as it can
STAGHORN_FMA_CLONES
void overrelax_links(LinkField& links, int mu, Sites sites, const MatrixField& path) {
  for (const std::int64_t x : sites) {
    Matrix& u = links[x][mu];
    Matrix w = u * adjoint(path[x]);
    for (const Subgroup& s : su3_subgroups) {
      double k;
      const Su2 v = project_block(w, s, k);
      const Su2 g = adjoint(v * v);
      multiply_rows(u, s, g);
      multiply_rows(w, s, g);
    }
  }
}

// Hands slabs of a list of sites to the threads.
template <class Work>
void for_slabs(Sites sites, const Work& work) {
  constexpr std::size_t sites_per_slab = 128;
#pragma omp parallel for
  for (std::size_t begin = 0; begin < sites.size(); begin += sites_per_slab)
    work(sites.subspan(begin, std::min(sites_per_slab, sites.size() - begin)));
}

using ParitySites = std::array<std::vector<std::int64_t>, 2>;  // local sites of either parity, in order

ParitySites sites_by_parity(const Lattice& lattice) {
  ParitySites sites;
  for (std::int64_t x = 0; x < lattice.local_volume(); ++x)
    sites[std::size_t(Lattice::parity_of(lattice.site_coordinates(x)))].push_back(x);
  return sites;
}

// Updates U_mu(x) for all x of one parity: links that share no plaquette, all else at rest.
void update_direction(const Communicator& communicator, LinkField& links, const HeatbathParameters& parameters,
                      std::uint32_t sweep, Update update, int mu, Sites mine, Sites others, MatrixField& path,
                      MatrixField& path_behind) {
  for_slabs(mine, [&](Sites sites) {
    for (const std::int64_t x : sites) path[x] = Matrix{};
  });
  const NeighbourSites<Links> ahead_mu(communicator, links, mu, +1);
  for (int nu = 0; nu < 4; ++nu) {
    if (nu == mu) continue;
    const NeighbourSites<Links> ahead_nu(communicator, links, nu, +1);
    for_slabs(mine, [&](Sites sites) { add_paths_ahead(links, ahead_mu, ahead_nu, mu, nu, sites, path); });
    for_slabs(others, [&](Sites sites) { make_paths_behind(links, ahead_mu, mu, nu, sites, path_behind); });
    const NeighbourSites<Matrix> behind_nu(communicator, path_behind, nu, -1);
    for_slabs(mine, [&](Sites sites) { add_paths_behind(behind_nu, sites, path); });
  }
  for_slabs(mine, [&](Sites sites) {
    if (update == Update::heatbath)
      heatbath_links(links, mu, parameters, sweep, sites, path);
    else
      overrelax_links(links, mu, sites, path);
  });
}

}  // namespace

void set_cold(LinkField& links) {
  Links ones;
  ones.fill(identity_matrix<double>());
  std::fill_n(links.data(), links.size(), ones);
}

void set_hot(LinkField& links, std::uint64_t seed) {
  const Lattice& lattice = links.lattice();
#pragma omp parallel for
  for (std::int64_t x = 0; x < links.size(); ++x) {
    const std::uint64_t global =
        std::uint64_t(lattice.global_site_index(lattice.to_global(lattice.site_coordinates(x))));
    for (int mu = 0; mu < 4; ++mu) {
      // Gram-Schmidt of rows with a rotation-invariant distribution is uniform on the group.
      RandomStream random(seed, RandomPurpose::hot_start, 0, global, std::uint32_t(mu));
      for (auto& row : links[x][mu].e)
        for (Complex<double>& element : row) element = complex_gaussian(random);
      project_su3(links[x][mu]);
    }
  }
}

void heatbath_sweep(const Communicator& communicator, LinkField& links, const HeatbathParameters& parameters,
                    std::uint32_t sweep) {
  if (!(parameters.beta >= 0 && std::isfinite(parameters.beta))) throw Error("heatbath", "beta >= 0", parameters.beta);
  if (parameters.overrelaxation_steps < 0)
    throw Error("heatbath", "a number of over-relaxation steps >= 0", parameters.overrelaxation_steps);
  const ParitySites sites = sites_by_parity(links.lattice());
  MatrixField path(links.lattice()), path_behind(links.lattice());
  for (int step = 0; step <= parameters.overrelaxation_steps; ++step)
    for (int mu = 0; mu < 4; ++mu)
      for (int parity = 0; parity < 2; ++parity)
        update_direction(communicator, links, parameters, sweep, step == 0 ? Update::heatbath : Update::overrelaxation,
                         mu, sites[parity], sites[1 - parity], path, path_behind);
  reunitarize(links);
}

}  // namespace staghorn
