// The attributes of an HDF5 object as text. Local.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "lattice_io/hdf5/object_header.hpp"

namespace staghorn {

// Single texts as they are, single numbers with their shortest digits, others left out. Reads texts of fixed length, as
// Staghorn writes them, and of variable length, as h5py and earlier versions do; \xNN in a text is a byte (bytes_of).
// Integers with the names of checksums are hexadecimal. Throws Error where an attribute is
// damaged.
std::map<std::string, std::string> read_hdf5_attributes(const Hdf5File& file, std::vector<Hdf5Message>& messages);

// The message of an attribute that is one text or one real.
std::string hdf5_text_attribute(const std::string& name, const std::string& value);
// Of one text of variable length: object `number` of the heap at `heap`.
std::string hdf5_variable_text_attribute(const std::string& name, std::size_t n_bytes, std::uint64_t heap, int number);
std::string hdf5_real_attribute(const std::string& name, double value);

}  // namespace staghorn
