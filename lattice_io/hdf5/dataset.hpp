// Datasets in HDF5 files, as h5py and Staghorn write them: complex numbers, a compound {r, i} of two reals; 16-bit
// integers; short lists of reals. Local.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "dirac/algebra/precision.hpp"
#include "lattice_io/files/posix_file.hpp"
#include "lattice_io/hdf5/chunks.hpp"

namespace staghorn {

struct Hdf5Dataset {
  std::string path, name;
  std::vector<std::int64_t> shape;
  Precision precision = Precision::fp64;  // of the two reals of a complex number; fp16: of a single 16-bit integer
  bool big_endian = false;
  std::int64_t data_offset = -1;  // of the first number in the file; -1 where the dataset is stored in chunks
  Hdf5Chunks chunks;              // empty unless it is
  std::map<std::string, std::string>
      attributes;  // texts as they are, numbers with their shortest digits, others left out
};

// The bytes of one value of a dataset.
constexpr std::int64_t hdf5_value_bytes(Precision precision) {
  return precision == Precision::fp16 ? 2 : 2 * bytes_per_real(precision);
}

// What dataset `name` ("links", "group/links") of a file is. Throws Error if it is not complex (given `or_integers`,
// neither that nor 16-bit integers), not complete, or stored in a way that Staghorn cannot read; if it is absent, with
// what is there instead and `advice`.
Hdf5Dataset describe_hdf5_dataset(const std::string& path, const std::string& name, const std::string& advice = "",
                                  bool or_integers = false);

// The numbers of a dataset of one dimension that holds fp64 reals in one piece. Throws Error if it is absent or
// something else.
std::vector<double> read_hdf5_reals(const std::string& path, const std::string& name);

// Reads runs of consecutive sites of any such dataset, best in ascending order. For one thread.
class Hdf5SiteReader {
 public:
  // The first `n_site_dimensions` of the dataset count sites, lexicographically; the others are a site's components.
  Hdf5SiteReader(const Hdf5Dataset& dataset, int n_site_dimensions);
  // Fills `sites` with little-endian numbers of the dataset's own precision.
  void read(std::int64_t first_site, std::span<std::byte> sites) const;

 private:
  Hdf5Dataset dataset_;
  std::int64_t site_values_ = 1;  // complex numbers a site
  PosixFile file_;
  mutable Hdf5ChunkReader chunks_;  // keeps what later sites need
};

}  // namespace staghorn
