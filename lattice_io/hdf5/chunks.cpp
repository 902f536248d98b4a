#include "lattice_io/hdf5/chunks.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>

#include "halo/watch/error.hpp"
#include "lattice_io/hdf5/btree.hpp"
#include "lattice_io/hdf5/value_type.hpp"

namespace staghorn {

namespace {

constexpr std::int64_t largest_chunk = std::int64_t{1} << 30;  // bytes
constexpr std::int64_t most_chunks = 1 << 24;

// version | number | reserved (version 1) | {id | name bytes | flags | number of parameters | name | parameters} ...
std::vector<Hdf5Filter> read_filters(MetadataBytes& bytes) {
  const std::uint64_t version = bytes.require_number(1, "version of the filters", 1, 2);
  const std::uint64_t n_filters = bytes.require_number(1, "number of filters", 0, 32);
  if (version == 1) bytes.skip(6);
  std::vector<Hdf5Filter> filters;
  for (std::uint64_t k = 0; k < n_filters; ++k) {
    const std::uint64_t id = bytes.require_number(2, "filter (1 deflate, 2 shuffle, 3 fletcher32)", 1, 3);
    const std::uint64_t name_bytes = version == 1 ? bytes.number(2) : 0;
    bytes.skip(2);
    const std::uint64_t n_parameters = bytes.number(2);
    bytes.skip(name_bytes);
    if (version == 1) bytes.skip_to_multiple_of_8();
    bytes.skip(4 * n_parameters);
    if (version == 1 && n_parameters % 2 != 0) bytes.skip(4);
    filters.push_back(Hdf5Filter(id));
  }
  return filters;
}

using Bytes = std::vector<std::byte>;

Bytes inflated(const Bytes& stored, std::int64_t largest, const std::string& what) {
  Bytes result(std::size_t(largest), std::byte{0});
  uLongf bytes = uLongf(largest);
  const int status = uncompress(reinterpret_cast<Bytef*>(result.data()), &bytes,
                                reinterpret_cast<const Bytef*>(stored.data()), uLong(stored.size()));
  if (status != Z_OK)
    throw FileError(what + " is damaged: a chunk",
                    "at most " + std::to_string(largest) + " bytes behind zlib's compression",
                    "zlib error " + std::to_string(status));
  result.resize(bytes);
  return result;
}

// The shuffle filter stores byte 0 of all values, then byte 1 of all values, and so on.
Bytes unshuffled(const Bytes& stored, std::size_t value_bytes) {
  Bytes result = stored;
  const std::size_t n = stored.size() / value_bytes;
  for (std::size_t k = 0; k < value_bytes; ++k)
    for (std::size_t i = 0; i < n; ++i) result[i * value_bytes + k] = stored[k * n + i];
  return result;
}

// Fletcher's checksum of big-endian 16-bit words, modulo 65535.
std::uint32_t fletcher32(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0, sum_of_sums = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 2) {
    const auto high = std::uint64_t(bytes[at]), low = at + 1 < bytes.size() ? std::uint64_t(bytes[at + 1]) : 0;
    sum = (sum + (high << 8 | low)) % 65535;
    sum_of_sums = (sum_of_sums + sum) % 65535;
  }
  return std::uint32_t(sum_of_sums << 16 | sum);
}

// HDF5 writes a sum that is a multiple of 65535 as 0 or as 65535.
bool same_fletcher32(std::uint32_t a, std::uint32_t b) {
  return (a >> 16) % 65535 == (b >> 16) % 65535 && (a & 0xffff) % 65535 == (b & 0xffff) % 65535;
}

Bytes without_fletcher32(Bytes stored, const std::string& what) {
  if (stored.size() < 4) throw FileError(what + " is damaged: a chunk", "4 bytes of checksum", stored.size());
  std::uint32_t sum = 0;
  const std::size_t n = stored.size() - 4;
  for (std::size_t k = 0; k < 4; ++k) sum |= std::uint32_t(stored[n + k]) << (8 * k);
  stored.resize(n);
  if (!same_fletcher32(sum, fletcher32(stored)))
    throw FileError(what + " is damaged: the fletcher32 checksum of a chunk is not that of its bytes");
  return stored;
}

Bytes read_chunk(const PosixFile& file, const Hdf5Chunks& chunks, const Hdf5Chunks::Chunk& chunk) {
  const std::int64_t expected = number_of_values(chunks.extent) * chunks.value_bytes;
  Bytes bytes(std::size_t(chunk.bytes));
  file.read(chunk.offset, bytes);
  for (std::size_t k = chunks.filters.size(); k-- > 0;) {
    if (chunk.skipped_filters >> k & 1) continue;
    if (chunks.filters[k] == Hdf5Filter::deflate) bytes = inflated(bytes, expected + 4, chunks.what);
    if (chunks.filters[k] == Hdf5Filter::shuffle) bytes = unshuffled(bytes, std::size_t(chunks.value_bytes));
    if (chunks.filters[k] == Hdf5Filter::fletcher32) bytes = without_fletcher32(std::move(bytes), chunks.what);
  }
  if (std::int64_t(bytes.size()) != expected)
    throw FileError(chunks.what + " is damaged: a chunk", std::to_string(expected) + " bytes", bytes.size());
  return bytes;
}

// Calls visit(value, length, at) for each run of values that a chunk shares with the dataset: `length` values, the
// first of which has number `value` in the dataset and number `at` in the chunk. A run extends over all dimensions
// that the chunk covers wholly. Runs come in ascending order: at most a few of those before value `first`, and none
// from value `last` on.
template <class Visit>
void visit_runs(const Hdf5Chunks& chunks, const Hdf5Chunks::Chunk& chunk, const std::vector<std::int64_t>& shape,
                std::int64_t first, std::int64_t last, Visit visit) {
  std::size_t split = shape.size() - 1;  // the last dimension that the chunk may share with others
  std::int64_t block = 1;                // values of one index there
  while (split > 0 && chunks.extent[split] == shape[split]) block *= shape[split--];
  const auto clipped = [&](std::size_t d) { return std::min(chunks.extent[d], shape[d] - chunk.corner[d]); };
  const std::int64_t length = clipped(split) * block;
  std::vector<std::int64_t> index(split + 1, 0);  // within the chunk
  const auto value_at = [&] {
    std::int64_t value = 0;
    for (std::size_t d = 0; d <= split; ++d) value = value * shape[d] + chunk.corner[d] + index[d];
    return value * block;
  };
  std::vector<std::int64_t> wanted(split + 1);  // indices of value `first` in the dataset
  for (std::size_t d = split + 1, rest = std::size_t(first / block); d-- > 0; rest /= std::size_t(shape[d]))
    wanted[d] = std::int64_t(rest % std::size_t(shape[d]));
  for (std::size_t d = 0; d < split && wanted[d] >= chunk.corner[d]; ++d) {
    index[d] = std::min(wanted[d] - chunk.corner[d], clipped(d) - 1);
    if (wanted[d] - chunk.corner[d] == index[d]) continue;
    while (++d < split) index[d] = clipped(d) - 1;  // the runs of this index end before
  }
  while (value_at() < last) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d <= split; ++d) at = at * chunks.extent[d] + index[d];
    visit(value_at(), length, at * block);
    std::size_t d = split;  // the next index, counting from behind
    while (d > 0 && ++index[d - 1] == clipped(d - 1)) index[--d] = 0;
    if (d == 0) return;
  }
}

}  // namespace

Hdf5Chunks read_hdf5_chunks(const Hdf5File& file, MetadataBytes& layout, std::vector<Hdf5Message>& messages,
                            const std::vector<std::int64_t>& shape, std::uint64_t value_bytes,
                            const std::string& what) {
  const std::size_t rank = shape.size();
  Hdf5Chunks chunks;
  chunks.what = what;
  chunks.value_bytes = std::int64_t(value_bytes);
  if (rank == 0) throw FileError(what, "at least one dimension", "a single value in chunks");
  layout.require_number(1, "dimensions of a chunk", rank + 1, rank + 1);
  const std::uint64_t tree = layout.address();
  std::int64_t n_chunks = 1, chunk_bytes = chunks.value_bytes;
  for (const std::int64_t extent : shape) {
    chunks.extent.push_back(
        std::int64_t(layout.require_number(4, "extent of a chunk", 1, std::uint64_t(largest_chunk))));
    n_chunks *= (extent + chunks.extent.back() - 1) / chunks.extent.back();
    if (__builtin_mul_overflow(chunk_bytes, chunks.extent.back(), &chunk_bytes) || chunk_bytes > largest_chunk ||
        n_chunks > most_chunks)
      throw FileError(what, "chunks of at most 1 GiB, and not too many", "others");
  }
  // A few numbers must not ask for much memory. A chunk may be for more vectors than there are.
  constexpr std::int64_t small_chunk = std::int64_t{64} << 20, most_times_dataset = 16;
  const std::int64_t data_bytes = number_of_values(shape) * chunks.value_bytes;
  if (chunk_bytes > std::max(small_chunk, most_times_dataset * data_bytes))
    throw FileError(what,
                    "chunks that are not much larger than the dataset of " + std::to_string(data_bytes) + " bytes",
                    std::to_string(chunk_bytes) + " bytes");
  layout.require_number(4, "bytes of a value", value_bytes, value_bytes);
  for (Hdf5Message& message : messages)
    if (message.type == Hdf5Message::filters && !message.shared) chunks.filters = read_filters(message.bytes);

  std::set<std::vector<std::int64_t>> corners;
  const std::uint64_t key_bytes = 8 + 8 * (rank + 1);
  if (tree != undefined_address && n_chunks > 0)
    walk_btree(file, tree, 1, key_bytes, std::uint64_t(n_chunks), what, [&](MetadataBytes key, std::uint64_t address) {
      Hdf5Chunks::Chunk chunk{};
      chunk.bytes = std::int64_t(key.require_number(4, "bytes of a chunk", 0, std::uint64_t(2 * largest_chunk)));
      chunk.skipped_filters = std::uint32_t(key.number(4));
      for (std::size_t d = 0; d < rank; ++d) {
        const std::uint64_t corner = key.require_number(8, "place of a chunk", 0, std::uint64_t(shape[d] - 1));
        if (corner % std::uint64_t(chunks.extent[d]) != 0)
          throw FileError(what + " is damaged: place of a chunk", "a multiple of " + std::to_string(chunks.extent[d]),
                          corner);
        chunk.corner.push_back(std::int64_t(corner));
      }
      chunk.offset = file.offset(address, std::uint64_t(chunk.bytes), what);
      chunk.first = chunk.last = 0;
      for (std::size_t d = 0; d < rank; ++d) {
        chunk.first = chunk.first * shape[d] + chunk.corner[d];
        chunk.last = chunk.last * shape[d] + std::min(chunk.corner[d] + chunks.extent[d], shape[d]) - 1;
      }
      ++chunk.last;
      if (!corners.insert(chunk.corner).second) throw FileError(what + " is damaged: two chunks have one place");
      chunks.chunks.push_back(std::move(chunk));
    });
  if (std::int64_t(chunks.chunks.size()) != n_chunks)
    throw FileError(what, std::to_string(n_chunks) + " chunks of numbers", chunks.chunks.size());
  return chunks;
}

const Bytes& Hdf5ChunkReader::chunk(const PosixFile& file, const Hdf5Chunks& chunks, std::size_t number,
                                    std::int64_t first_value) {
  if (const auto kept = kept_.find(number); kept != kept_.end()) return kept->second;
  const auto forget = [&](auto kept) {
    kept_bytes_ -= std::int64_t(kept->second.size());
    return kept_.erase(kept);
  };
  for (auto kept = kept_.begin(); kept != kept_.end();)
    kept = chunks.chunks[kept->first].last <= first_value ? forget(kept) : std::next(kept);
  const std::int64_t bytes = number_of_values(chunks.extent) * chunks.value_bytes;
  // What was met last is needed last: each step goes through the chunks in one order.
  while (!kept_.empty() && kept_bytes_ + bytes > most_kept) forget(std::prev(kept_.end()));
  constexpr std::int64_t most_times = 16;
  if (++inflated_ > most_times * std::int64_t(chunks.chunks.size()))
    throw FileError(chunks.what, "chunks that can be read one after the other",
                    "chunks that each step needs again, and more than " + std::to_string(most_kept >> 20) +
                        " MiB of them; h5repack -l CONTI -f NONE writes a dataset that can be read");
  Bytes inflated = read_chunk(file, chunks, chunks.chunks[number]);
  kept_bytes_ += bytes;
  return kept_.emplace(number, std::move(inflated)).first->second;
}

void Hdf5ChunkReader::read(const PosixFile& file, const Hdf5Chunks& chunks, const std::vector<std::int64_t>& shape,
                           std::int64_t first_value, std::span<std::byte> values) {
  const std::int64_t value_bytes = chunks.value_bytes;
  const std::int64_t last_value = first_value + std::int64_t(values.size()) / value_bytes;
  for (std::size_t number = 0; number < chunks.chunks.size(); ++number) {
    const Hdf5Chunks::Chunk& here = chunks.chunks[number];
    if (here.first >= last_value || here.last <= first_value) continue;
    const Bytes* bytes = nullptr;  // read when the first run is wanted
    visit_runs(
        chunks, here, shape, first_value, last_value, [&](std::int64_t value, std::int64_t length, std::int64_t at) {
          const std::int64_t first = std::max(value, first_value), last = std::min(value + length, last_value);
          if (first >= last) return;
          if (!bytes) bytes = &chunk(file, chunks, number, first_value);
          std::memcpy(values.data() + (first - first_value) * value_bytes,
                      bytes->data() + (at + first - value) * value_bytes, std::size_t((last - first) * value_bytes));
        });
  }
  if (last_value < number_of_values(shape)) return;
  kept_.clear();
  kept_bytes_ = 0;
}

}  // namespace staghorn
