// Datasets that HDF5 stores in chunks, compressed or not. Local.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
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
    std::int64_t first, last;          // its values lie in [first, last) of the dataset, beside those of others
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

// Reads the values of one dataset in chunks. Where they are read in ascending order, each chunk is taken from the file
// and inflated once, as long as those that wait for their later values fit into most_kept bytes.
class Hdf5ChunkReader {
 public:
  static constexpr std::int64_t most_kept = std::int64_t{1} << 30;  // beside the chunk at work

  // Fills `values` with consecutive values from `first_value` on, counted over the dataset of the given shape. Throws
  // Error where a chunk is damaged, or where chunks are inflated again and again.
  void read(const PosixFile& file, const Hdf5Chunks& chunks, const std::vector<std::int64_t>& shape,
            std::int64_t first_value, std::span<std::byte> values);

 private:
  const std::vector<std::byte>& chunk(const PosixFile& file, const Hdf5Chunks& chunks, std::size_t number,
                                      std::int64_t first_value);

  std::map<std::size_t, std::vector<std::byte>> kept_;  // chunks by number
  std::int64_t kept_bytes_ = 0, inflated_ = 0;
};

}  // namespace staghorn
