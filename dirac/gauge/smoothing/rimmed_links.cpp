#include "dirac/gauge/smoothing/rimmed_links.hpp"

#include <limits>
#include <string>

#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

// Calls use(place, i) for the i-th place of the slices x_mu = first, ..., first + depth - 1.
template <class Use>
void for_slices(const Rims& rims, int mu, int first, const Use& use) {
  std::int64_t stride = 1;
  for (int nu = 0; nu < mu; ++nu) stride *= rims.extent(nu);
  const std::int64_t extent = rims.extent(mu), row = stride * rims.rim(mu);
#pragma omp parallel for
  for (std::int64_t outer = 0; outer < rims.places() / (stride * extent); ++outer)
    for (std::int64_t i = 0; i < row; ++i) use((outer * extent + first) * stride + i, outer * row + i);
}

}  // namespace

Rims::Rims(const Lattice& lattice, int depth) : lattice_(lattice), places_(1) {
  for (int mu = 0; mu < 4; ++mu) {
    const bool cut = lattice.grid()[mu] > 1;
    rim_[mu] = cut ? depth : 0;
    extents_[mu] = lattice.local()[mu] + 2 * rim_[mu];
    places_ *= extents_[mu];
  }
  if (places_ > std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorKind::layout, "links of one rank", "fewer than 2^31 sites", places_);
  steps_.resize(std::size_t(8 * places_));
#pragma omp parallel for
  for (std::int64_t place = 0; place < places_; ++place) {
    const Coordinates x = unravel(place, extents_);
    std::int64_t stride = 1;
    for (int mu = 0; mu < 4; ++mu) {
      const std::int64_t round = stride * (extents_[mu] - 1);
      steps_[std::size_t(8 * place + mu)] = std::int32_t(x[mu] + 1 < extents_[mu] ? place + stride : place - round);
      steps_[std::size_t(8 * place + 4 + mu)] = std::int32_t(x[mu] > 0 ? place - stride : place + round);
      stride *= extents_[mu];
    }
  }
}

std::int64_t Rims::place(std::int64_t site) const {
  if (!any()) return site;
  const Coordinates x = lattice_.site_coordinates(site);
  std::int64_t place = 0;
  for (int mu = 3; mu >= 0; --mu) place = place * extents_[mu] + x[mu] + rim_[mu];
  return place;
}

// Direction by direction: slices carry the rims of the directions before, so corners arrive too.
RimmedLinks::RimmedLinks(const Communicator& communicator, const Rims& rims, const LinkField& links)
    : rims_(&rims), links_(&links) {
  if (!rims.any()) return;
  copy_.resize(std::size_t(rims.places()));
#pragma omp parallel for
  for (std::int64_t x = 0; x < links.size(); ++x) copy_[std::size_t(rims.place(x))] = links[x];
  for (int mu = 0; mu < 4; ++mu) {
    const int rim = rims.rim(mu);
    if (rim == 0) continue;
    std::vector<Links> outgoing(std::size_t(rims.places() / rims.extent(mu) * rim));
    for (const int direction : {+1, -1}) {
      for_slices(rims, mu, direction > 0 ? rim : rims.extent(mu) - 2 * rim,
                 [&](std::int64_t place, std::int64_t i) { outgoing[std::size_t(i)] = copy_[std::size_t(place)]; });
      const std::vector<Links> incoming = exchange_face(communicator, rims.lattice(), mu, direction, outgoing);
      for_slices(rims, mu, direction > 0 ? rims.extent(mu) - rim : 0,
                 [&](std::int64_t place, std::int64_t i) { copy_[std::size_t(place)] = incoming[std::size_t(i)]; });
    }
  }
}

}  // namespace staghorn
