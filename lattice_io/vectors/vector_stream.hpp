// Colour vectors of an HDF5 file one after the other, for those that are not all in memory at once. Collective.
#pragma once

#include <functional>

#include "lattice_io/vectors/vector_file.hpp"

namespace staghorn {

// What a new file holds, but for the numbers.
struct NewVectorFile {
  std::string name;  // of the dataset
  Precision precision = Precision::fp64;
  std::map<std::string, std::string> attributes;
};

// Fills the empty file `path` with n_vectors vectors and closes it, flushed to the disk. `vector(k)` is asked for k =
// 0, 1,
// ... once each, on every rank; what it returns must last until it is asked again.
void fill_with_vectors(const Communicator& communicator, const std::string& path, const Lattice& lattice,
                       std::int64_t n_vectors, const NewVectorFile& described,
                       const std::function<const VectorField&(std::int64_t)>& vector);

// What dataset `name` of an HDF5 file is. Throws Error where it is absent or damaged.
VectorHeader read_stream_header(const Communicator& communicator, const std::string& path, const std::string& name);

// Reads the vectors one after the other: `begin(k)` says where vector k goes, `end(k)` is called once it is there.
// Returns the checksums of the file beside those of what was read; a wrong one does not throw.
ChecksumResults read_each_vector(const Communicator& communicator, const VectorHeader& header, const Lattice& lattice,
                                 const std::function<VectorField&(std::int64_t)>& begin,
                                 const std::function<void(std::int64_t)>& end = {});

}  // namespace staghorn
