// Fat and long links of a host to plain fields: places, adjoints, phases and boundary signs. Exact.
#include "dirac/gauge/gauge_observables.hpp"
#include "dirac/gauge/stored_links.hpp"
#include "halo/watch/error.hpp"
#include "solver/interface/layouts/given_phases.hpp"
#include "solver/interface/layouts/link_conversion.hpp"

namespace staghorn {

namespace {

// Largest |U U^dagger - 1| of links that are thin ones; links in fp32 deviate by some 1e-7.
constexpr double thin_tolerance = 1e-5;

void check_layouts(const HostLinks& fat, const HostLinks& naik) {
  check_layout(fat);
  check_layout(naik);
  if (fat.as_given != naik.as_given || (!fat.as_given && fat.phases != naik.phases))
    throw Error(ErrorKind::layout, "phases of long links", "those of the fat links", "others");
  if (!fat.as_given && (!(fat.boundary == naik.boundary) || fat.boundary_in != naik.boundary_in))
    throw Error(ErrorKind::layout, "theta and boundary_in of long links", "those of the fat links", "others");
  const std::array<double, 4> one{1, 1, 1, 1};
  if (fat.scale != one || naik.scale != one)
    throw Error(ErrorKind::layout, "scale of fat and long links", "1", "another factor");
}

bool is_zero(const Communicator& communicator, const LinkField& links) {
  bool some = false;
#pragma omp parallel for schedule(static) reduction(|| : some)
  for (std::int64_t site = 0; site < links.size(); ++site)
    for (const auto& link : links[site])
      for (const auto& row : link.e)
        for (const auto& element : row) some = some || element.re != 0 || element.im != 0;
  return !communicator.any(some);
}

void require_finite(const UnitarityCheck& check, const char* name) {
  if (!check.finite) throw Error(name, "finite links", "NaN or infinity among them");
}

// What determinants say of fat links after phases and boundary have been taken out as the layout says: nothing is left.
void require_plain(const Communicator& communicator, const HostLinks& layout, const LinkField& fat) {
  std::array<bool, 4> twisted{};
  for (std::size_t mu = 0; mu < 4; ++mu) twisted[mu] = layout.boundary_in && !is_sign(layout.boundary.theta[mu]);
  if (has_pair_signs(communicator, fat, twisted))
    throw Error("fat links: signs of the determinants", "those that phases, boundary_in and theta say",
                "others: of other phases or boundaries, or of swapped fat and long links");
}

// Of the determinants of long links, on the average; that of their coefficient. -1 where they do not tell.
int sign_of_long(const Communicator& communicator, const LinkField& naik) {
  const auto found = find_phases(communicator, naik, 3);
  return found ? found->sign : -1;
}

}  // namespace

TakenLinks take_link_pair(const Communicator& communicator, const HostLinks& fat_layout, const LinkBuffers& fat_host,
                          const HostLinks& long_layout, const LinkBuffers& long_host, LinkField& fat, LinkField& naik) {
  communicator.agree([&] {
    check_layouts(fat_layout, long_layout);
    read_links(fat_layout, fat_host, fat);
    read_links(long_layout, long_host, naik);
  });
  const UnitarityCheck unitarity = check_unitarity(communicator, fat);
  require_finite(unitarity, "fat links");
  require_finite(check_unitarity(communicator, naik), "long links");

  TakenLinks pair = known_phases(fat_layout);
  pair.has_long = !is_zero(communicator, naik);
  const bool thin = unitarity.max_deviation <= thin_tolerance;
  pair.unscaled = pair.unscaled && thin;
  if (fat_layout.as_given) {
    GivenPhases found = !pair.has_long && thin
                            ? take_out_phases(communicator, fat)
                            : take_out_pair_signs(communicator, fat, pair.has_long ? &naik : nullptr);
    pair.boundary = found.boundary;
    pair.signs.found = FoundSigns::of(std::move(found.signs));
    pair.unscaled = pair.unscaled && found.only_signs;
    if (pair.has_long) pair.long_sign = likeness(communicator, fat, naik) < 0 ? -1 : 1;
    return pair;
  }
  if (!pair.has_long) return pair;
  require_plain(communicator, fat_layout, fat);
  pair.long_sign = sign_of_long(communicator, naik);
  return pair;
}

}  // namespace staghorn
