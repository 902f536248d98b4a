// The pieces of which Staghorn makes a new HDF5 file, as bytes. Local.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lattice_io/hdf5/object_header.hpp"

namespace staghorn {

std::string hdf5_message(Hdf5Message::Type type, const std::string& body);

// An object header in one piece, with its checksum. Its limits let HDF5 add attributes without moving the others into
// an index.
std::string hdf5_object(const std::string& messages);

// What every dataset has: shape, type, and numbers in one piece of `bytes` bytes from `offset` on.
std::string hdf5_array_messages(const std::vector<std::int64_t>& shape, const std::string& type, std::int64_t offset,
                                std::int64_t bytes);

// A group with these members: name and address.
std::string hdf5_group_messages(const std::map<std::string, std::uint64_t>& members);

// Superblock and root group, up to hdf5_data_offset. Throws Error where there are too many members.
std::string hdf5_start_of_file(const std::string& path, std::uint64_t file_bytes,
                               const std::map<std::string, std::uint64_t>& members);

}  // namespace staghorn
