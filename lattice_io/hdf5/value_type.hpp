// What HDF5 says of values: their type and how many there are. Local.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dirac/algebra/precision.hpp"
#include "lattice_io/hdf5/metadata_bytes.hpp"

namespace staghorn {

struct Hdf5Type {
  enum class Kind { integer, real, text, variable_text, complex, other };
  Kind kind = Kind::other;
  std::uint64_t bytes = 0;  // of one value; of a variable text: of the reference to it
  bool big_endian = false;
  bool is_signed = false;  // integers
};

// Reads a datatype message. `real` and `complex` are IEEE numbers of 32 or 64 bits; a complex number is the compound
// {r, i} of h5py. Throws Error where the message is damaged.
Hdf5Type read_hdf5_type(MetadataBytes& bytes);

// Reads a dataspace message: the extents, none for a single value, a zero where there is no value. Throws Error unless
// their product fits 62 bits.
std::vector<std::int64_t> read_hdf5_shape(MetadataBytes& bytes);

std::int64_t number_of_values(const std::vector<std::int64_t>& shape);

// The messages for complex numbers {r, i} of little-endian reals, for 16-bit integers, for one real, and for text of
// n_bytes bytes.
std::string hdf5_complex_type(Precision precision);
std::string hdf5_integer_type();
std::string hdf5_real_type(Precision precision);
std::string hdf5_text_type(std::uint64_t n_bytes);
// Of text of variable length, whose value is a reference into a heap.
std::string hdf5_variable_text_type();
std::string hdf5_shape(const std::vector<std::int64_t>& shape);

}  // namespace staghorn
