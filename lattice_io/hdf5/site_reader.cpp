#include "lattice_io/hdf5/site_reader.hpp"

#include <algorithm>

#include "halo/watch/activity.hpp"
#include "halo/watch/error.hpp"
#include "lattice_io/hdf5/library.hpp"

namespace staghorn {

namespace {

constexpr std::int64_t most_kept = std::int64_t{1} << 30;  // bytes of chunks
constexpr std::int64_t most_chunks = 1 << 24;

// How large a cache keeps chunks until all of their values were read in ascending order: those that share the first
// index along which chunks are longer than one. Throws Error where chunks are damaged, too large, or not all there.
void set_chunk_cache(hid_t access, hid_t id, const Hdf5Dataset& dataset, const std::string& what) {
  const Hdf5Id creation(H5Dget_create_plist(id), what), space(H5Dget_space(id), what);
  if (checked(H5Pget_layout(creation), what) != H5D_CHUNKED) return;
  const std::vector<std::int64_t>& shape = dataset.shape;
  std::vector<hsize_t> extents(shape.size());
  checked(H5Pget_chunk(creation, int(shape.size()), extents.data()), what);
  std::int64_t n_chunks = 1, at_once = 1, bytes = dataset.value_bytes();
  for (std::size_t d = 0, shared = 0; d < shape.size(); ++d) {
    const auto extent = std::int64_t(extents[d]);
    const std::int64_t along = extent > 0 && extent >> 32 == 0 ? (shape[d] + extent - 1) / extent : 0;
    if (along == 0 || __builtin_mul_overflow(n_chunks, along, &n_chunks) ||
        __builtin_mul_overflow(bytes, extent, &bytes) || bytes >> 32 != 0 || n_chunks > most_chunks)
      throw FileError(what, "chunks of less than 4 GiB, and not too many", "others");
    if (shared) at_once *= along;
    shared = shared || extent > 1;
  }
  // A few numbers must not ask for much memory. A chunk may be for more vectors than there are.
  constexpr std::int64_t small_chunk = std::int64_t{64} << 20, most_times_dataset = 16;
  const std::int64_t data_bytes = dataset.n_values() * dataset.value_bytes();
  if (bytes > std::max(small_chunk, most_times_dataset * data_bytes))
    throw FileError(what,
                    "chunks that are not much larger than the dataset of " + std::to_string(data_bytes) + " bytes",
                    std::to_string(bytes) + " bytes");
  if (at_once > 1 && at_once > most_kept / bytes)
    throw FileError(what, "chunks that can be read one after the other",
                    "chunks that each step needs again, and more than " + std::to_string(most_kept >> 20) +
                        " MiB of them; h5repack -l CONTI -f NONE writes a dataset that can be read");
  hsize_t found = 0;
  checked(H5Dget_num_chunks(id, space, &found), what);
  if (found != hsize_t(n_chunks)) throw FileError(what, std::to_string(n_chunks) + " chunks of numbers", found);
  checked(H5Pset_chunk_cache(access, std::size_t(n_chunks) + 1, std::size_t(at_once * bytes), 1), what);
}

}  // namespace

struct Hdf5SiteReader::Opened {
  Hdf5Id id, space, type;
};

Hdf5SiteReader::Hdf5SiteReader(const Hdf5Dataset& dataset, int n_site_dimensions) : dataset_(dataset) {
  for (std::size_t k = std::size_t(n_site_dimensions); k < dataset_.shape.size(); ++k)
    site_values_ *= dataset_.shape[k];
  if (dataset_.data_offset >= 0) {
    plain_.emplace(PosixFile::open_to_read(dataset.path));
    return;
  }
  const Hdf5Call call;
  const std::string what = dataset.path + ": dataset " + dataset.name;
  const Hdf5Id file = open_hdf5(dataset.path), access(H5Pcreate(H5P_DATASET_ACCESS), what);
  checked(H5Pset_efile_prefix(access, "${ORIGIN}"), what);
  Hdf5Id id(H5Dopen2(file, dataset.name.c_str(), access), what), space(H5Dget_space(id), what);
  set_chunk_cache(access, id, dataset, what);
  id = Hdf5Id();  // a dataset that is open keeps its cache
  id = Hdf5Id(H5Dopen2(file, dataset.name.c_str(), access), what);
  const Hdf5Id stored(H5Dget_type(id), what);
  Hdf5Id type(H5Tget_native_type(stored, H5T_DIR_DEFAULT), what);  // this host is little-endian
  opened_ = std::make_shared<Opened>(Opened{std::move(id), std::move(space), std::move(type)});
}

void Hdf5SiteReader::read(std::int64_t first_site, std::span<std::byte> sites) const {
  const std::int64_t value_bytes = dataset_.value_bytes();
  std::int64_t at = first_site * site_values_;
  if (plain_) return plain_->read(dataset_.data_offset + at * value_bytes, sites);
  const Activity activity("reading a file");
  const Hdf5Call call;
  const std::string what = dataset_.path + ": dataset " + dataset_.name;
  // Consecutive values are a few boxes: each has a range of one index, and all of those behind it.
  for (std::byte* to = sites.data(); to < sites.data() + sites.size();) {
    std::int64_t left = (sites.data() + sites.size() - to) / value_bytes, block = 1;
    std::size_t d = dataset_.shape.size();
    while (d > 1 && at % (block * dataset_.shape[d - 1]) == 0 && left >= block * dataset_.shape[d - 1])
      block *= dataset_.shape[--d];
    std::vector<hsize_t> start(dataset_.shape.size(), 0), count(dataset_.shape.begin(), dataset_.shape.end());
    std::int64_t n = 1, rest = at / block;
    for (std::size_t k = d; k-- > 0; rest /= dataset_.shape[k]) {
      start[k] = hsize_t(rest % dataset_.shape[k]);
      count[k] = 1;
      if (k + 1 == d) count[k] = hsize_t(n = std::min(left / block, dataset_.shape[k] - std::int64_t(start[k])));
    }
    const hsize_t values = hsize_t(n * block);
    const Hdf5Id memory(H5Screate_simple(1, &values, nullptr), what);
    if (d > 0)
      checked(H5Sselect_hyperslab(opened_->space, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr), what);
    checked(H5Dread(opened_->id, opened_->type, memory, opened_->space, H5P_DEFAULT, to), what);
    at += std::int64_t(values);
    to += std::int64_t(values) * value_bytes;
    made_progress();
  }
}

}  // namespace staghorn
