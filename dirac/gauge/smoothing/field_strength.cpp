#include "dirac/gauge/smoothing/field_strength.hpp"

#include "dirac/algebra/exact_sum.hpp"
#include "dirac/gauge/smoothing/link_paths.hpp"
#include "dirac/gauge/smoothing/site_slabs.hpp"

namespace staghorn {

namespace {

STAGHORN_FMA_CLONES
void measure(const Rims& rims, const LinkView& u, SiteFieldStrength* sites, SiteSlab slab) {
  for (std::int64_t x = slab.begin; x < slab.end; ++x) sites[x] = site_field_strength(u, rims.place(x));
}

}  // namespace

FieldStrength field_strength(const Communicator& communicator, const Rims& rims, const LinkField& links) {
  const RimmedLinks rimmed(communicator, rims, links);
  SiteField<SiteFieldStrength> sites(rims.lattice());
  for_slabs(sites.size(), [&](SiteSlab slab) { measure(rims, rimmed.view(), sites.data(), slab); });
  const auto sum = [&](double SiteFieldStrength::*part) {
    SiteField<double> values(rims.lattice());
    for_slabs(sites.size(), [&](SiteSlab slab) {
      for (std::int64_t x = slab.begin; x < slab.end; ++x) values[x] = sites[x].*part;
    });
    return exact_sum(communicator, {values.data(), std::size_t(values.size())});
  };
  constexpr double pi = 0x1.921fb54442d18p1;
  const double volume = double(rims.lattice().global_volume());
  return {sum(&SiteFieldStrength::space) / volume, sum(&SiteFieldStrength::time) / volume,
          sum(&SiteFieldStrength::charge) / (4 * pi * pi)};
}

}  // namespace staghorn
