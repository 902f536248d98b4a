#include "lattice_io/files/hdf5_dataset.hpp"

#include <algorithm>
#include <cstdio>

#include "halo/watch/activity.hpp"
#include "lattice_io/files/hdf5_handle.hpp"
#include "lattice_io/files/header_text.hpp"
#include "lattice_io/files/posix_file.hpp"

namespace staghorn {

namespace {

// Dates inside the file would make its bytes differ from run to run.
Hdf5Handle dataset_properties(const std::string& path) {
  Hdf5Handle properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, path, "dataset properties");
  check_hdf5(H5Pset_layout(properties, H5D_CONTIGUOUS), path, "contiguous layout");
  check_hdf5(H5Pset_alloc_time(properties, H5D_ALLOC_TIME_EARLY), path, "early allocation");
  check_hdf5(H5Pset_fill_time(properties, H5D_FILL_TIME_NEVER), path, "no fill value");
  check_hdf5(H5Pset_obj_track_times(properties, false), path, "no time stamps");
  return properties;
}

Hdf5Handle complex_type(const std::string& path, Precision precision) {
  const hid_t real = precision == Precision::fp64 ? H5T_IEEE_F64LE : H5T_IEEE_F32LE;
  const std::size_t bytes = std::size_t(bytes_per_real(precision));
  Hdf5Handle type(H5Tcreate(H5T_COMPOUND, 2 * bytes), H5Tclose, path, "complex type");
  check_hdf5(H5Tinsert(type, "r", 0, real), path, "complex type");
  check_hdf5(H5Tinsert(type, "i", bytes, real), path, "complex type");
  return type;
}

Hdf5Handle open_file(const std::string& path, unsigned flags) {
  return {H5Fopen(path.c_str(), flags, H5P_DEFAULT), H5Fclose, path, "opening as HDF5"};
}

Hdf5Handle open_dataset(hid_t file, const std::string& path, const std::string& name) {
  return {H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, path, ("opening dataset " + name).c_str()};
}

std::vector<std::int64_t> shape_of(hid_t dataset, const std::string& path) {
  const Hdf5Handle space(H5Dget_space(dataset), H5Sclose, path, "shape of the dataset");
  const int rank = check_hdf5(H5Sget_simple_extent_ndims(space), path, "shape of the dataset");
  std::vector<hsize_t> dims(std::size_t(rank), 0);
  check_hdf5(H5Sget_simple_extent_dims(space, dims.data(), nullptr), path, "shape of the dataset");
  return {dims.begin(), dims.end()};
}

Precision precision_of(hid_t type, const std::string& path, const std::string& name) {
  const int r = H5Tget_class(type) == H5T_COMPOUND ? H5Tget_member_index(type, "r") : -1;
  const int i = H5Tget_class(type) == H5T_COMPOUND ? H5Tget_member_index(type, "i") : -1;
  if (r >= 0 && i >= 0 && H5Tget_member_class(type, unsigned(r)) == H5T_FLOAT &&
      H5Tget_member_class(type, unsigned(i)) == H5T_FLOAT) {
    const Hdf5Handle real(H5Tget_member_type(type, unsigned(r)), H5Tclose, path, "type of the dataset");
    if (H5Tget_size(real) == 8) return Precision::fp64;
    if (H5Tget_size(real) == 4) return Precision::fp32;
  }
  throw Error(path + ": dataset " + name, "complex numbers: a compound {r, i} of 32- or 64-bit reals", "another type");
}

// The offset of plain little-endian numbers in the file, or -1.
std::int64_t plain_offset(hid_t dataset, hid_t type, Precision precision, const std::string& path) {
  const Hdf5Handle properties(H5Dget_create_plist(dataset), H5Pclose, path, "layout of the dataset");
  const Hdf5Handle plain = complex_type(path, precision);
  if (H5Pget_layout(properties) != H5D_CONTIGUOUS || H5Pget_external_count(properties) != 0) return -1;
  if (check_hdf5(H5Tequal(type, plain), path, "type of the dataset") == 0) return -1;
  const haddr_t offset = H5Dget_offset(dataset);
  return offset == HADDR_UNDEF ? -1 : std::int64_t(offset);
}

std::string text_of(hid_t attribute, hid_t type, const std::string& path) {
  if (check_hdf5(H5Tis_variable_str(type), path, "attribute") > 0) {
    char* text = nullptr;
    check_hdf5(H5Aread(attribute, type, &text), path, "attribute");
    const std::string result = text == nullptr ? "" : text;
    H5free_memory(text);
    return result;
  }
  std::string text(H5Tget_size(type), '\0');
  check_hdf5(H5Aread(attribute, type, text.data()), path, "attribute");
  return text.substr(0, text.find('\0'));
}

std::map<std::string, std::string> attributes_of(hid_t dataset, const std::string& path) {
  std::map<std::string, std::string> attributes;
  const auto collect = [](hid_t, const char* name, const H5A_info_t*, void* names) -> herr_t {
    (*static_cast<std::map<std::string, std::string>*>(names))[name];
    return 0;
  };
  check_hdf5(H5Aiterate2(dataset, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, collect, &attributes), path, "attributes");
  for (auto entry = attributes.begin(); entry != attributes.end();) {
    const Hdf5Handle attribute(H5Aopen(dataset, entry->first.c_str(), H5P_DEFAULT), H5Aclose, path, "attribute");
    const Hdf5Handle type(H5Aget_type(attribute), H5Tclose, path, "attribute");
    const Hdf5Handle space(H5Aget_space(attribute), H5Sclose, path, "attribute");
    const H5T_class_t kind = H5Tget_class(type);
    const bool scalar = H5Sget_simple_extent_npoints(space) == 1;
    if (scalar && kind == H5T_STRING) {
      entry->second = printable(text_of(attribute, type, path));
    } else if (scalar && (kind == H5T_FLOAT || kind == H5T_INTEGER)) {
      double value = 0;
      check_hdf5(H5Aread(attribute, H5T_NATIVE_DOUBLE, &value), path, "attribute");
      char digits[32];
      std::snprintf(digits, sizeof digits, "%.17g", value);
      entry->second = digits;
    } else {
      entry = attributes.erase(entry);
      continue;
    }
    ++entry;
  }
  return attributes;
}

void add_attribute(hid_t dataset, hid_t type, const std::string& path, const std::string& name, const void* value) {
  const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose, path, "attribute");
  const Hdf5Handle attribute(H5Acreate2(dataset, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, path,
                             ("attribute " + name).c_str());
  check_hdf5(H5Awrite(attribute, type, value), path, "attribute");
}

void flush_and_close(Hdf5Handle& file, const std::string& path) {
  check_hdf5(H5Fflush(file, H5F_SCOPE_GLOBAL), path, "flushing");
  file.close(path, "closing");
  PosixFile::open_to_write(path).flush_and_close();
}

// Adds to `space` the elements whose flattened index over dimensions [d, n_site) lies in [first, last), the
// indices of dimensions before d being those of `corner`: a partial head, a box of whole blocks, a partial tail.
void select_sites(hid_t space, const std::vector<std::int64_t>& shape, int n_site, int d, std::vector<hsize_t>& corner,
                  std::int64_t first, std::int64_t last, const std::string& path) {
  std::int64_t block = 1;
  for (int k = d + 1; k < n_site; ++k) block *= shape[k];
  std::int64_t from = first / block;
  const std::int64_t to = last / block;
  if (first % block != 0) {
    corner[d] = hsize_t(from);
    select_sites(space, shape, n_site, d + 1, corner, first % block, std::min(block, last - from * block), path);
    ++from;
  }
  if (from < to) {
    std::vector<hsize_t> start(corner.begin(), corner.begin() + d), count(std::size_t(d), 1);
    start.push_back(hsize_t(from));
    count.push_back(hsize_t(to - from));
    for (std::size_t k = std::size_t(d) + 1; k < shape.size(); ++k) {
      start.push_back(0);
      count.push_back(hsize_t(shape[k]));
    }
    check_hdf5(H5Sselect_hyperslab(space, H5S_SELECT_OR, start.data(), nullptr, count.data(), nullptr), path,
               "selecting sites");
  }
  if (last % block != 0 && from <= to) {
    corner[d] = hsize_t(to);
    select_sites(space, shape, n_site, d + 1, corner, 0, last % block, path);
  }
}

}  // namespace

Hdf5Dataset describe_hdf5_dataset(const std::string& path, const std::string& name) {
  const QuietHdf5 quiet;
  const Hdf5Handle file = open_file(path, H5F_ACC_RDONLY);
  const Hdf5Handle dataset = open_dataset(file, path, name);
  const Hdf5Handle type(H5Dget_type(dataset), H5Tclose, path, "type of the dataset");
  Hdf5Dataset description;
  description.shape = shape_of(dataset, path);
  description.precision = precision_of(type, path, name);
  description.data_offset = plain_offset(dataset, type, description.precision, path);
  description.attributes = attributes_of(dataset, path);
  return description;
}

std::int64_t create_hdf5_dataset(const std::string& path, const std::string& name, std::span<const std::int64_t> shape,
                                 Precision precision) {
  const QuietHdf5 quiet;
  const std::vector<hsize_t> dims(shape.begin(), shape.end());
  Hdf5Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose, path, "creating");
  const Hdf5Handle space(H5Screate_simple(int(dims.size()), dims.data(), nullptr), H5Sclose, path, "shape");
  const Hdf5Handle type = complex_type(path, precision), properties = dataset_properties(path);
  Hdf5Handle dataset(H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT), H5Dclose, path,
                     "creating the dataset");
  const haddr_t offset = H5Dget_offset(dataset);
  if (offset == HADDR_UNDEF) throw hdf5_error(path, "allocating the dataset");
  dataset.close(path, "closing the dataset");
  flush_and_close(file, path);
  return std::int64_t(offset);
}

void add_hdf5_attributes(const std::string& path, const std::string& name,
                         const std::map<std::string, std::string>& texts,
                         const std::map<std::string, double>& numbers) {
  constexpr std::size_t longest_text = 60000;  // HDF5 keeps attributes below 64 KiB
  const QuietHdf5 quiet;
  Hdf5Handle file = open_file(path, H5F_ACC_RDWR);
  Hdf5Handle dataset = open_dataset(file, path, name);
  Hdf5Handle text_type(H5Tcopy(H5T_C_S1), H5Tclose, path, "text type");
  check_hdf5(H5Tset_size(text_type, H5T_VARIABLE), path, "text type");
  check_hdf5(H5Tset_cset(text_type, H5T_CSET_UTF8), path, "text type");
  for (const auto& [key, value] : numbers) add_attribute(dataset, H5T_IEEE_F64LE, path, key, &value);
  for (const auto& [key, value] : texts) {
    const std::string kept = value.substr(0, longest_text);
    const char* text = kept.c_str();
    add_attribute(dataset, text_type, path, key, &text);
  }
  dataset.close(path, "closing the dataset");
  flush_and_close(file, path);
}

struct Hdf5SiteReader::State {
  std::string path;
  Hdf5Handle file, dataset, type;
  std::vector<std::int64_t> shape;
  int n_site_dimensions;
  std::int64_t site_elements = 1;
};

Hdf5SiteReader::Hdf5SiteReader(const std::string& path, const std::string& name, int n_site_dimensions) {
  const QuietHdf5 quiet;
  Hdf5Handle file = open_file(path, H5F_ACC_RDONLY);
  Hdf5Handle dataset = open_dataset(file, path, name);
  const Hdf5Handle stored(H5Dget_type(dataset), H5Tclose, path, "type of the dataset");
  Hdf5Handle type = complex_type(path, precision_of(stored, path, name));
  std::vector<std::int64_t> shape = shape_of(dataset, path);
  state_ = std::make_unique<State>(
      State{path, std::move(file), std::move(dataset), std::move(type), std::move(shape), n_site_dimensions});
  for (std::size_t k = std::size_t(n_site_dimensions); k < state_->shape.size(); ++k)
    state_->site_elements *= state_->shape[k];
}

Hdf5SiteReader::~Hdf5SiteReader() = default;

void Hdf5SiteReader::read(std::int64_t first_site, std::span<std::byte> sites) const {
  const Activity activity("reading a file");
  const QuietHdf5 quiet;
  const State& s = *state_;
  const std::size_t site_bytes = std::size_t(s.site_elements) * H5Tget_size(s.type);
  const Hdf5Handle from(H5Dget_space(s.dataset), H5Sclose, s.path, "shape of the dataset");
  check_hdf5(H5Sselect_none(from), s.path, "selecting sites");
  std::vector<hsize_t> corner(s.shape.size());
  const std::int64_t last_site = first_site + std::int64_t(sites.size() / site_bytes);
  select_sites(from, s.shape, s.n_site_dimensions, 0, corner, first_site, last_site, s.path);
  const hsize_t n_elements = hsize_t(last_site - first_site) * hsize_t(s.site_elements);
  const Hdf5Handle to(H5Screate_simple(1, &n_elements, nullptr), H5Sclose, s.path, "memory space");
  check_hdf5(H5Dread(s.dataset, s.type, to, from, H5P_DEFAULT, sites.data()), s.path, "reading sites");
}

}  // namespace staghorn
