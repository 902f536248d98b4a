// Fat and long links of a host to plain fields: places, adjoints, phases and boundary signs. Exact.
#pragma once

#include "solver/interface/layouts/link_conversion.hpp"

namespace staghorn {

// What a solver needs to know of a pair.
struct TakenPair {
  TakenLinks taken;      // `unscaled`: the fat links are thin ones, unitary matrices without a phase but signs
  bool has_long = true;  // false: the long links are zero everywhere
  int long_sign = -1;    // of the coefficient that all long links share
};

// Reads fat links into `fat` and long ones into `naik`, without dagger, phases and signs of the boundary, but with
// their coefficient. Both layouts have the same phases and boundary, and scale 1; that of long links has steps = 3.
// Links as given are searched for their signs (given_pair.hpp); where long links are zero and fat ones unitary, as thin
// links are (given_phases.hpp). Throws Error where the layouts do not go together, where a link is not finite, and
// where determinants speak against the phases of a layout. Collective.
TakenPair take_link_pair(const Communicator& communicator, const HostLinks& fat_layout, const LinkBuffers& fat_host,
                         const HostLinks& long_layout, const LinkBuffers& long_host, LinkField& fat, LinkField& naik);

}  // namespace staghorn
