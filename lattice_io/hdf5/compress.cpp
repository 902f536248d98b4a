// Compression on request: a file that is complete is written once more, with its large datasets in chunks.
#include <algorithm>
#include <filesystem>

#include "halo/watch/activity.hpp"
#include "halo/watch/error.hpp"
#include "lattice_io/files/output_file.hpp"
#include "lattice_io/files/posix_file.hpp"
#include "lattice_io/hdf5/library.hpp"
#include "lattice_io/hdf5/new_file.hpp"

namespace staghorn {

namespace {

constexpr hsize_t largest_chunk = hsize_t{8} << 20;  // bytes
constexpr int fields_from = 5;                       // dimensions

// A chunk lies within one time slice, of one vector where there are several, and is not too large.
std::vector<hsize_t> chunk_of(std::vector<hsize_t> shape, std::size_t value_bytes) {
  const bool has_vectors = shape.size() == 6 && shape[4] != 3;  // else links of one direction
  const std::size_t leading = has_vectors ? 2 : 1;
  hsize_t bytes = value_bytes;
  for (const hsize_t extent : shape) bytes *= extent;
  for (std::size_t d = 0; d < shape.size() && (d < leading || bytes > largest_chunk); ++d) {
    bytes /= shape[d];
    shape[d] = 1;
  }
  return shape;
}

void copy_attributes(hid_t from, hid_t to, const std::string& path) {
  for (const std::string& name : hdf5_attribute_names(from, path)) {
    const Hdf5Id one(H5Aopen(from, name.c_str(), H5P_DEFAULT), path), type(H5Aget_type(one), path);
    const Hdf5Id space(H5Aget_space(one), path);
    std::vector<std::byte> value(std::max(H5Tget_size(type), sizeof(char*)));
    checked(H5Aread(one, type, value.data()), path);
    const Hdf5Id copy(H5Acreate2(to, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), path);
    checked(H5Awrite(copy, type, value.data()), path);
    if (H5Tis_variable_str(type) > 0) H5Dvlen_reclaim(type, space, H5P_DEFAULT, value.data());
  }
}

void copy_in_chunks(hid_t from, hid_t to, const std::string& name, int level) {
  const Hdf5Id type(H5Dget_type(from), name), space(H5Dget_space(from), name);
  const Hdf5Id how(H5Dget_create_plist(from), name);
  std::vector<hsize_t> shape(std::size_t(H5Sget_simple_extent_ndims(space)));
  H5Sget_simple_extent_dims(space, shape.data(), nullptr);
  const std::vector<hsize_t> chunk = chunk_of(shape, H5Tget_size(type));
  checked(H5Pset_chunk(how, int(chunk.size()), chunk.data()), name);
  checked(H5Pset_alloc_time(how, H5D_ALLOC_TIME_INCR), name);
  checked(H5Pset_shuffle(how), name);
  checked(H5Pset_deflate(how, unsigned(level)), name);
  Hdf5Id copy(H5Dcreate2(to, name.c_str(), type, space, H5P_DEFAULT, how, H5P_DEFAULT), name);
  const Hdf5Id memory(H5Screate_simple(int(chunk.size()), chunk.data(), nullptr), name);
  std::vector<std::byte> values(H5Tget_size(type) * std::size_t(H5Sget_simple_extent_npoints(memory)));
  std::vector<hsize_t> corner(shape.size(), 0);
  for (std::size_t d = 0; corner[0] < shape[0];) {  // an extent of a chunk is 1, or that of the dataset
    checked(H5Sselect_hyperslab(space, H5S_SELECT_SET, corner.data(), nullptr, chunk.data(), nullptr), name);
    checked(H5Dread(from, type, memory, space, H5P_DEFAULT, values.data()), name);
    checked(H5Dwrite(copy, type, memory, space, H5P_DEFAULT, values.data()), name);
    made_progress();
    for (d = shape.size() - 1; (corner[d] += chunk[d]) >= shape[d] && d > 0; --d) corner[d] = 0;
  }
  copy_attributes(from, copy, name);
}

void copy_members(hid_t from, hid_t to, const std::string& path, int level) {
  for (const std::string& name : hdf5_member_names(from, path)) {
    const Hdf5Id object(H5Oopen(from, name.c_str(), H5P_DEFAULT), path);
    const bool is_group = H5Iget_type(object) == H5I_GROUP;
    const Hdf5Id space(is_group ? H5Screate(H5S_SCALAR) : H5Dget_space(object), path);
    if (is_group) {
      const Hdf5Id how(H5Gget_create_plist(object), path);
      checked(H5Pset_obj_track_times(how, false), path);
      const Hdf5Id group(H5Gcreate2(to, name.c_str(), H5P_DEFAULT, how, H5P_DEFAULT), path);
      copy_attributes(object, group, path);
      copy_members(object, group, path, level);
    } else if (H5Sget_simple_extent_ndims(space) >= fields_from) {
      copy_in_chunks(object, to, name, level);
    } else {
      checked(H5Ocopy(from, name.c_str(), to, name.c_str(), H5P_DEFAULT, H5P_DEFAULT), path);
    }
  }
}

}  // namespace

void compress_hdf5(const std::string& path, int level) {
  const Activity activity("compressing a file");
  const std::string compressed = path + ".compressed";
  OwnFile own;  // removed where this ends early
  own.own(compressed);
  {
    const Hdf5Call call;
    const Hdf5Id from = open_hdf5(path), how(H5Fget_create_plist(from), path), access = hdf5_access(true);
    checked(H5Pset_obj_track_times(how, false), path);
    const Hdf5Id to(H5Fcreate(compressed.c_str(), H5F_ACC_TRUNC, how, access), compressed);
    copy_members(from, to, path, level);
    checked(H5Fflush(to, H5F_SCOPE_GLOBAL), path + " cannot be written");
  }
  PosixFile::open_to_write(compressed).flush_and_close();
  std::filesystem::rename(compressed, path);
  own.release();
}

}  // namespace staghorn
