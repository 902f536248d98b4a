#include "dirac/gauge/smoothing/field_strength.hpp"

#include "dirac/algebra/exact_sum.hpp"
#include "dirac/gauge/smoothing/link_paths.hpp"
#include "dirac/gauge/smoothing/site_slabs.hpp"

namespace staghorn {

namespace {

using Values = SiteField<double>;

STAGHORN_FMA_CLONES
void measure(const Rims& rims, const LinkView& u, Values& space, Values& time, Values& charge, SiteSlab slab) {
  for (std::int64_t x = slab.begin; x < slab.end; ++x) {
    const SiteFieldStrength site = site_field_strength(u, rims.place(x));
    space[x] = site.space;
    time[x] = site.time;
    charge[x] = site.charge;
  }
}

}  // namespace

FieldStrength field_strength(const Communicator& communicator, const Rims& rims, const LinkField& links) {
  const RimmedLinks rimmed(communicator, rims, links);
  Values space(rims.lattice()), time(rims.lattice()), charge(rims.lattice());
  for_slabs(space.size(), [&](SiteSlab slab) { measure(rims, rimmed.view(), space, time, charge, slab); });
  const auto n = std::size_t(space.size());
  return mean_field_strength(communicator, rims.lattice(), {space.data(), n}, {time.data(), n}, {charge.data(), n});
}

FieldStrength mean_field_strength(const Communicator& communicator, const Lattice& lattice,
                                  std::span<const double> space, std::span<const double> time,
                                  std::span<const double> charge) {
  constexpr double pi = 0x1.921fb54442d18p1;
  const double volume = double(lattice.global_volume());
  return {exact_sum(communicator, space) / volume, exact_sum(communicator, time) / volume,
          exact_sum(communicator, charge) / (4 * pi * pi)};
}

}  // namespace staghorn
