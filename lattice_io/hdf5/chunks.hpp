// Datasets that HDF5 stores in chunks, compressed or not. Local.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lattice_io/files/posix_file.hpp"
#include "lattice_io/hdf5/object_header.hpp"

namespace staghorn {

// What was done to the bytes of a chunk before they were stored, in this order.
enum class Hdf5Filter : int { deflate = 1, shuffle = 2, fletcher32 = 3 };

struct Hdf5Chunks {
  struct Chunk {
    std::vector<std::int64_t> corner;  // indices of its first value in the dataset
    std::int64_t offset, bytes;        // in the file
    std::uint32_t skipped_filters;     // bit k: filter k was not applied
  };
  std::string what;                  // file and dataset, for messages
  std::vector<std::int64_t> extent;  // of every chunk; those at the far edges reach beyond the dataset
  std::int64_t value_bytes = 0;
  std::vector<Hdf5Filter> filters;
  std::vector<Chunk> chunks;
};

// Finds the chunks of a dataset. `layout`: its layout message, behind version and class. Throws Error where that is
// damaged, where chunks are missing, and for other filters than those above.
Hdf5Chunks read_hdf5_chunks(const Hdf5File& file, MetadataBytes& layout, std::vector<Hdf5Message>& messages,
                            const std::vector<std::int64_t>& shape, std::uint64_t value_bytes, const std::string& what);

// Fills `values` with consecutive values from `first_value` on, counted over the dataset of the given shape.
void read_from_chunks(const PosixFile& file, const Hdf5Chunks& chunks, const std::vector<std::int64_t>& shape,
                      std::int64_t first_value, std::span<std::byte> values);

}  // namespace staghorn
