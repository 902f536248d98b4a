// Datasets of complex numbers in HDF5 files, as h5py reads and writes them: a compound {r, i} of two reals. Local.
//
// The HDF5 library, serial or parallel, is used by single processes only: one rank creates a file with room for the
// dataset, contiguous and allocated at once, and all ranks then write their slabs at its byte offset like in any other
// format. Files of others (h5py: chunked, compressed, big-endian) are read through the library instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dirac/algebra/precision.hpp"

namespace staghorn {

struct Hdf5Dataset {
  std::vector<std::int64_t> shape;
  Precision precision = Precision::fp64;
  std::int64_t data_offset = -1;  // where plain little-endian numbers begin in the file; -1 if it does not hold such
  std::map<std::string, std::string> attributes;  // strings as they are, scalars as %.17g, others left out
};

// What dataset `name` of a file is. Throws Error if it is absent or not complex.
Hdf5Dataset describe_hdf5_dataset(const std::string& path, const std::string& name);

// Makes `path` (an existing file is emptied) an HDF5 file with one dataset of little-endian complex numbers and returns
// the byte offset of its first element. Flushed and closed: the numbers are then written at that offset.
std::int64_t create_hdf5_dataset(const std::string& path, const std::string& name, std::span<const std::int64_t> shape,
                                 Precision precision);

// Adds attributes to a dataset, flushed and closed.
void add_hdf5_attributes(const std::string& path, const std::string& name,
                         const std::map<std::string, std::string>& texts, const std::map<std::string, double>& numbers);

// Reads runs of consecutive sites through the library, as little-endian numbers of the dataset's own precision.
class Hdf5SiteReader {
 public:
  // The first `n_site_dimensions` of the dataset count sites, lexicographically; the others are a site's components.
  Hdf5SiteReader(const std::string& path, const std::string& name, int n_site_dimensions);
  ~Hdf5SiteReader();
  void read(std::int64_t first_site, std::span<std::byte> sites) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace staghorn
