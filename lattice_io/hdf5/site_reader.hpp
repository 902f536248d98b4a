// The numbers of a dataset in an HDF5 file. Local.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "lattice_io/files/posix_file.hpp"
#include "lattice_io/hdf5/catalogue.hpp"

namespace staghorn {

// Reads runs of consecutive sites, best in ascending order. Numbers that lie in one piece come straight from the file;
// others, in chunks, compressed, big-endian, in other files, by the library, which inflates each chunk once and keeps
// those that wait for their later values. For one thread.
class Hdf5SiteReader {
 public:
  // The first `n_site_dimensions` of the dataset count sites, lexicographically; the others are a site's components.
  Hdf5SiteReader(const Hdf5Dataset& dataset, int n_site_dimensions);
  // Fills `sites` with little-endian numbers of the dataset's own precision.
  void read(std::int64_t first_site, std::span<std::byte> sites) const;

 private:
  Hdf5Dataset dataset_;
  std::int64_t site_values_ = 1;  // numbers a site
  std::optional<PosixFile> plain_;
  struct Opened;
  std::shared_ptr<const Opened> opened_;  // where the library reads
};

}  // namespace staghorn
