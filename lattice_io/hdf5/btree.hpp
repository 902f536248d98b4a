// Version 1 B-trees of HDF5: the members of a group, and the chunks of a dataset. Local.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "lattice_io/hdf5/metadata_bytes.hpp"

namespace staghorn {

class Hdf5File;

// Visits the leaves of the tree at `address`, whose nodes have the given type (0: group, 1: chunks) and keys of
// `key_bytes` bytes: key and address of each child of a leaf node. Throws Error where the tree is damaged, endless
// or of more than `most_leaves` leaves.
void walk_btree(const Hdf5File& file, std::uint64_t address, int type, std::uint64_t key_bytes,
                std::uint64_t most_leaves, const std::string& what,
                const std::function<void(MetadataBytes key, std::uint64_t child)>& visit);

// The members of a group in the older form, by name: the addresses of their object headers.
std::map<std::string, std::uint64_t> read_symbol_table(const Hdf5File& file, std::uint64_t tree, std::uint64_t heap,
                                                       const std::string& what);

}  // namespace staghorn
