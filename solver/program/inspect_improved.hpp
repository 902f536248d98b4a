// `staghorn inspect` of fat and long links: what is in their numbers beside links.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>

#include "dirac/gauge/stored_links.hpp"
#include "lattice_io/gauge/gauge_file.hpp"

namespace staghorn {

struct ImprovedInspection {
  std::string role;                       // "fat" or "long"
  std::optional<FoundPhases> found;       // nothing where determinants do not tell
  double coefficient = 1, unitarity = 0;  // of long links: c_N, and max |N N^dagger - 1| without it
};

// What `links` are, if the file says that they are fat or long links, or nothing. Collective.
std::optional<ImprovedInspection> look_at_improved(const Communicator& communicator, const GaugeHeader& header,
                                                   const LinkField& links);

void print_improved(std::ostream& out, const ImprovedInspection& found);

}  // namespace staghorn
