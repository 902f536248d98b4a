// SciDAC files in parts: QIO's partfiles and multifiles, NAME.vol0000 and more volumes beside it. Local.
//
// Each volume has some of the sites, and says which: a record scidac-sitelist of big-endian 32-bit site numbers, in the
// order in which its numbers follow. The first volume has the XML of all and the checksums of the whole.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "halo/lattice.hpp"

namespace staghorn {

class ScidacVolumes {
 public:
  // Looks through all volumes beside `first`, the name of the first one. Throws Error unless every site of the lattice
  // stands in one of them, once. At most one volume is open at a time: there may be more of them than a process may
  // have files.
  ScidacVolumes(const std::string& first, const Extents& extents);

  // Throws Error unless field `field` has `bytes_per_site` for each site of each volume.
  void require_field(std::size_t field, std::int64_t bytes_per_site) const;
  // Fills `sites` from site first_site on.
  void read(std::size_t field, std::int64_t bytes_per_site, std::int64_t first_site, std::span<std::byte> sites) const;

 private:
  struct Volume {
    std::string path;
    std::int64_t n_sites;
    std::vector<std::int64_t> data_offsets, data_bytes;  // of each field
  };
  // Consecutive sites of the lattice that are consecutive in a volume.
  struct Run {
    std::int64_t first_site, n_sites;
    std::size_t volume;
    std::int64_t place;  // of the first site, in sites from the start of the volume's numbers
  };

  void take(const std::string& path, std::int64_t lattice_sites);

  std::vector<Volume> volumes_;
  std::vector<Run> runs_;  // by first site
};

// NAME where `path` is NAME.vol0000, else "".
std::string name_of_volumes(const std::string& path);

}  // namespace staghorn
