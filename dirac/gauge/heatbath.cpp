#include "dirac/gauge/heatbath.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "dirac/gauge/cuda_heatbath.hpp"
#include "dirac/gauge/cuda_links.hpp"
#include "dirac/gauge/gauge_observables.hpp"
#include "dirac/gauge/link_update.hpp"
#include "dirac/gauge/plaquette_paths.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

using Matrix = ColorMatrix<double>;
using Sites = std::span<const std::int64_t>;

enum class Update { heatbath, overrelaxation };

STAGHORN_FMA_CLONES
void add_paths_ahead(const LinkField& links, const NeighbourSites<Links>& ahead_mu,
                     const NeighbourSites<Links>& ahead_nu, int mu, int nu, Sites sites, MatrixField& path) {
  for (const std::int64_t x : sites) add_path_ahead(path[x], links[x][nu], ahead_nu[x][mu], ahead_mu[x][nu]);
}

STAGHORN_FMA_CLONES
void make_paths_behind(const LinkField& links, const NeighbourSites<Links>& ahead_mu, int mu, int nu, Sites sites,
                       MatrixField& behind) {
  for (const std::int64_t y : sites) behind[y] = path_behind(links[y][nu], links[y][mu], ahead_mu[y][nu]);
}

STAGHORN_FMA_CLONES
void add_paths_behind(const NeighbourSites<Matrix>& behind_nu, Sites sites, MatrixField& path) {
  for (const std::int64_t x : sites) add_path(path[x], behind_nu[x]);
}

std::uint64_t global_index(const Lattice& lattice, std::int64_t x) {
  return std::uint64_t(lattice.global_site_index(lattice.to_global(lattice.site_coordinates(x))));
}

STAGHORN_FMA_CLONES
void heatbath_links(LinkField& links, int mu, const HeatbathParameters& parameters, std::uint32_t sweep, Sites sites,
                    const MatrixField& path) {
  for (const std::int64_t x : sites)
    heatbath_link(links[x][mu], path[x], parameters.beta, parameters.seed, sweep, global_index(links.lattice(), x), mu);
}

STAGHORN_FMA_CLONES
void overrelax_links(LinkField& links, int mu, Sites sites, const MatrixField& path) {
  for (const std::int64_t x : sites) overrelax_link(links[x][mu], path[x]);
}

STAGHORN_FMA_CLONES
void randomise(Links& links, std::uint64_t seed, std::uint64_t site) {
  for (int mu = 0; mu < 4; ++mu) links[mu] = random_link(seed, site, mu);
}

// Distributes slabs of a list of sites among the threads.
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

// Updates U_mu(x) for all x of one parity. These links share no plaquette; all other links stay.
void update_direction(const Communicator& communicator, LinkField& links, const HeatbathParameters& parameters,
                      std::uint32_t sweep, Update update, int mu, Sites mine, Sites others, MatrixField& path,
                      MatrixField& behind) {
  for_slabs(mine, [&](Sites sites) {
    for (const std::int64_t x : sites) path[x] = Matrix{};
  });
  const NeighbourSites<Links> ahead_mu(communicator, links, mu, +1);
  for (int nu = 0; nu < 4; ++nu) {
    if (nu == mu) continue;
    const NeighbourSites<Links> ahead_nu(communicator, links, nu, +1);
    for_slabs(mine, [&](Sites sites) { add_paths_ahead(links, ahead_mu, ahead_nu, mu, nu, sites, path); });
    for_slabs(others, [&](Sites sites) { make_paths_behind(links, ahead_mu, mu, nu, sites, behind); });
    const NeighbourSites<Matrix> behind_nu(communicator, behind, nu, -1);
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
  Links ones{};
  ones.fill(identity_matrix<double>());
  std::fill_n(links.data(), links.size(), ones);
}

void set_hot(LinkField& links, std::uint64_t seed) {
  if (links.space() == MemorySpace::cuda) return cuda_set_hot(links, seed);
#pragma omp parallel for
  for (std::int64_t x = 0; x < links.size(); ++x) randomise(links[x], seed, global_index(links.lattice(), x));
}

void check(const HeatbathParameters& parameters) {
  if (!(parameters.beta >= 0 && std::isfinite(parameters.beta))) throw Error("heatbath", "beta >= 0", parameters.beta);
  if (parameters.overrelaxation_steps < 0)
    throw Error("heatbath", "a number of over-relaxation steps >= 0", parameters.overrelaxation_steps);
}

void heatbath_sweep(const Communicator& communicator, LinkField& links, const HeatbathParameters& parameters,
                    std::uint32_t sweep) {
  check(parameters);
  const ParitySites sites = sites_by_parity(links.lattice());
  MatrixField path(links.lattice()), behind(links.lattice());
  for (int step = 0; step <= parameters.overrelaxation_steps; ++step)
    for (int mu = 0; mu < 4; ++mu)
      for (int parity = 0; parity < 2; ++parity)
        update_direction(communicator, links, parameters, sweep, step == 0 ? Update::heatbath : Update::overrelaxation,
                         mu, sites[parity], sites[1 - parity], path, behind);
  reunitarize(links);
}

#ifndef STAGHORN_CUDA
CudaLinkField::CudaLinkField(const Lattice& lattice) : lattice_(lattice) {
  throw Error("this build of Staghorn has no CUDA kernels");
}
void set_cold(CudaLinkField&) {}
void set_hot(CudaLinkField&, std::uint64_t) {}
void heatbath_sweep(const Communicator&, CudaLinkField&, const HeatbathParameters&, std::uint32_t) {}
Plaquette plaquette(const Communicator&, const CudaLinkField&) { return {}; }
LinkField on_host(const CudaLinkField& links) { return LinkField(links.lattice()); }
#endif

}  // namespace staghorn
