// Thin links to smooth, from a file or from memory: read, checked, and projected where that is asked for.
#pragma once

#include <optional>
#include <string>

#include "dirac/fields/site_field.hpp"
#include "halo/communicator.hpp"
#include "lattice_io/gauge/gauge_file.hpp"
#include "solver/report/run_setting.hpp"

namespace staghorn {

struct LinksFile {
  std::string path;
  std::optional<std::string> dataset{};  // of HDF5
  std::optional<Extents> grid{};         // of ranks
  bool verify = true;                    // checksums that are absent or wrong are errors
};

struct SmoothLinks {
  LinkField links;
  GaugeSummary summary;
};

// Both throw Error for links that are not in SU(3), within the wider limit where they are to be projected onto it.
// Collective.
SmoothLinks read_links(const Communicator& communicator, const LinksFile& file, bool reunitarize);
SmoothLinks given_links(const Communicator& communicator, LinkField links, bool reunitarize);

}  // namespace staghorn
