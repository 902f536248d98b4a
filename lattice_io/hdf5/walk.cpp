// How the library is asked what a file holds. Every number that it finds is checked before it is used.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string_view>

#include "halo/watch/error.hpp"
#include "lattice_io/content/utf8_text.hpp"
#include "lattice_io/files/checksums.hpp"
#include "lattice_io/files/foreign_files.hpp"
#include "lattice_io/files/header_text.hpp"
#include "lattice_io/hdf5/catalogue.hpp"
#include "lattice_io/hdf5/library.hpp"

namespace staghorn {

namespace {

constexpr std::size_t most_described = 16, longest_text = 1 << 16;

bool is_checksum(const std::string& name) {
  return name == "suma" || name == "sumb" || name == "sum29" || name == "sum31";
}

// Of an integer of 32 bits, with or without sign; others stay as they are, and match nothing.
std::string in_hexadecimal(double value) {
  const bool fits = value >= -0x1p31 && value < 0x1p32;
  return fits ? hexadecimal(std::uint32_t(std::int64_t(value))) : shortest_digits(value);
}

std::string up_to_zero(const std::string& text) { return text.substr(0, text.find('\0')); }

std::string read_text(hid_t attribute, hid_t type, hid_t space, const std::string& what) {
  if (checked(H5Tis_variable_str(type), what)) {
    char* text = nullptr;
    checked(H5Aread(attribute, type, &text), what);
    const std::string copy = text ? std::string(text, ::strnlen(text, longest_text)) : "";
    H5Dvlen_reclaim(type, space, H5P_DEFAULT, &text);
    return copy;
  }
  std::string text(H5Tget_size(type), '\0');
  if (text.empty() || text.size() > longest_text << 8) throw FileError(what, "a text that is not so long", text.size());
  checked(H5Aread(attribute, type, text.data()), what);
  return up_to_zero(text);
}

// Lists, and what is neither text nor number, are left out.
void read_attribute(hid_t attribute, const std::string& name, const std::string& what,
                    std::map<std::string, std::string>& attributes) {
  const Hdf5Id space(H5Aget_space(attribute), what), type(H5Aget_type(attribute), what);
  if (checked(H5Sget_simple_extent_npoints(space), what) != 1) return;
  const H5T_class_t kind = H5Tget_class(type);
  const std::size_t bytes = H5Tget_size(type);
  double number = 0;
  if (kind == H5T_STRING) {
    attributes[printable(name)] = printable(bytes_of(read_text(attribute, type, space, what)));
  } else if (kind == H5T_INTEGER && bytes <= 8) {
    const bool is_signed = H5Tget_sign(type) == H5T_SGN_2;
    std::int64_t value = 0;
    checked(H5Aread(attribute, is_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64, &value), what);
    number = is_signed ? double(value) : double(std::uint64_t(value));
    attributes[printable(name)] = is_checksum(name) ? in_hexadecimal(number) : shortest_digits(number);
  } else if (kind == H5T_FLOAT) {
    checked(H5Aread(attribute, H5T_NATIVE_DOUBLE, &number), what);
    attributes[printable(name)] = shortest_digits(number);
  }
}

std::vector<std::int64_t> shape_of(hid_t dataset, const std::string& what) {
  const Hdf5Id space(H5Dget_space(dataset), what);
  if (H5Sget_simple_extent_type(space) == H5S_NULL) return {0};
  std::vector<hsize_t> extents(std::size_t(checked(H5Sget_simple_extent_ndims(space), what)));
  checked(H5Sget_simple_extent_dims(space, extents.data(), nullptr), what);
  std::int64_t product = 1;
  for (const hsize_t extent : extents)
    if (extent >> 32 != 0 || __builtin_mul_overflow(product, std::int64_t(extent), &product) || product >> 58 != 0)
      throw FileError(what + ": extent", "a number below 2^32, with a product below 2^58", extent);
  return {extents.begin(), extents.end()};
}

// Throws Error unless the numbers are complex, reals or 16-bit integers. Returns whether they are little-endian.
bool set_type(hid_t type, const std::string& what, Hdf5Dataset& dataset) {
  for (const H5T_order_t order : {H5T_ORDER_LE, H5T_ORDER_BE})
    for (const auto& [re, im] : complex_parts)
      for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::fp16})
        for (const bool is_complex : {true, false})
          if (H5Tequal(type, hdf5_number_type(is_complex, precision, re, im, order)) > 0) {
            dataset.is_complex = is_complex;
            dataset.precision = precision;
            return order == H5T_ORDER_LE;
          }
  throw FileError(what, "complex numbers: a compound {r, i} of 32- or 64-bit reals", "another type");
}

// The library gives zeros for numbers in files that are not there.
void require_other_files(hid_t creation, const std::string& path, const std::string& what) {
  const auto require = [&](const std::string& name, std::int64_t bytes, bool or_here) {
    std::error_code none;
    const std::filesystem::path beside = std::filesystem::path(path).parent_path() / name;
    const auto size = std::filesystem::file_size(beside, none);
    if (!none && size < std::uint64_t(bytes))
      throw FileError(what, std::to_string(bytes) + " bytes in the file " + beside.string(), size);
    if (none && !(or_here && std::filesystem::exists(name, none)))
      throw FileError(what, "a file " + beside.string() + " with its numbers", "none");
  };
  const int n_external = checked(H5Pget_external_count(creation), what);
  for (int k = 0; k < n_external; ++k) {
    char name[4096] = {};
    off_t offset = 0;
    hsize_t bytes = 0;
    checked(H5Pget_external(creation, unsigned(k), sizeof name - 1, name, &offset, &bytes), what);
    require(name, bytes == H5F_UNLIMITED ? 0 : std::int64_t(offset) + std::int64_t(bytes), false);
  }
  std::size_t n_virtual = 0;
  if (checked(H5Pget_layout(creation), what) == H5D_VIRTUAL) checked(H5Pget_virtual_count(creation, &n_virtual), what);
  for (std::size_t k = 0; k < n_virtual; ++k) {
    char name[4096] = {};
    checked(H5Pget_virtual_filename(creation, k, name, sizeof name - 1), what);
    if (std::string_view(name) != ".") require(name, 0, true);
  }
}

}  // namespace

class Hdf5Walk {
 public:
  explicit Hdf5Walk(const std::string& path) : path_(path), file_(open_hdf5(path)), size_(0) {
    catalogue_.path_ = path;
    size_ = PosixFile::open_to_read(path).size();
    list("");
  }

  // Lists each group on the way to `wanted`, and describes what stands there.
  void look_at(const std::string& wanted) {
    std::string here;
    for (std::size_t begin = wanted.starts_with('/'); begin <= wanted.size();) {
      const std::size_t slash = std::min(wanted.find('/', begin), wanted.size());
      const std::vector<std::string>& members = catalogue_.groups_.at(here);
      const std::string step = wanted.substr(begin, slash - begin);
      if (!std::count(members.begin(), members.end(), step)) return;
      here += (here.empty() ? "" : "/") + step;
      if (!look_at_object(here)) return;
      begin = slash + 1;
    }
    const std::vector<std::string> members = catalogue_.groups_.at(here);
    if (members.size() > most_described) return;
    for (const std::string& name : members) look_at_object(here + "/" + name);
  }

  Hdf5Catalogue catalogue_;

 private:
  // Returns whether it is a group, which is then listed.
  bool look_at_object(const std::string& name) {
    if (catalogue_.groups_.count(name)) return true;
    if (catalogue_.datasets_.count(name) || catalogue_.faults_.count(name)) return false;
    try {
      const Hdf5Id object(H5Oopen(file_, name.c_str(), H5P_DEFAULT), path_ + ": HDF5 object " + printable(name));
      if (H5Iget_type(object) == H5I_GROUP) {
        list(name);
        return true;
      }
      if (H5Iget_type(object) == H5I_DATASET) catalogue_.datasets_[name] = describe(object, name);
    } catch (const Error& error) {
      catalogue_.faults_[name] = error.what();
    }
    return false;
  }

  void list(const std::string& name) {
    const std::string what = path_ + ": HDF5 group /" + printable(name);
    const Hdf5Id group(H5Gopen2(file_, ("/" + name).c_str(), H5P_DEFAULT), what);
    catalogue_.groups_[name] = hdf5_member_names(group, what);
  }

  Hdf5Dataset describe(hid_t id, const std::string& name) const {
    const std::string what = path_ + ": dataset " + printable(name);
    Hdf5Dataset dataset;
    dataset.path = path_, dataset.name = name, dataset.shape = shape_of(id, what);
    const Hdf5Id type(H5Dget_type(id), what), creation(H5Dget_create_plist(id), what);
    const bool little_endian = set_type(type, what, dataset);
    require_other_files(creation, path_, what);
    if (H5Pget_layout(creation) == H5D_CONTIGUOUS && H5Pget_external_count(creation) == 0 && dataset.n_values() > 0)
      set_offset(id, what, little_endian, dataset);
    for (const std::string& attribute : hdf5_attribute_names(id, what)) {
      const std::string where = what + ": attribute " + printable(attribute);
      const Hdf5Id opened(H5Aopen(id, attribute.c_str(), H5P_DEFAULT), where);
      read_attribute(opened, attribute, where, dataset.attributes);
    }
    return dataset;
  }

  void set_offset(hid_t id, const std::string& what, bool little_endian, Hdf5Dataset& dataset) const {
    const std::int64_t bytes = dataset.n_values() * dataset.value_bytes();
    const haddr_t offset = H5Dget_offset(id);
    if (offset == HADDR_UNDEF) throw FileError(what, std::to_string(bytes) + " bytes of numbers", "none");
    if (H5Dget_storage_size(id) != hsize_t(bytes))
      throw FileError(what + " is damaged", std::to_string(bytes) + " bytes of numbers", H5Dget_storage_size(id));
    H5O_info_t here, root;
    checked(H5Oget_info(id, &here), what), checked(H5Oget_info(file_, &root), what);
    if (here.fileno != root.fileno) return;  // behind a link into another file
    if (std::int64_t(offset) < 0 || std::int64_t(offset) > size_ || bytes > size_ - std::int64_t(offset))
      throw FileError(what + " is damaged", std::to_string(bytes) + " bytes within the file",
                      "address " + std::to_string(offset) + " in " + std::to_string(size_) + " bytes");
    if (little_endian) dataset.data_offset = std::int64_t(offset);
  }

  std::string path_;
  Hdf5Id file_;
  std::int64_t size_;
};

Hdf5Catalogue walk_hdf5(const std::string& path, const std::vector<std::string>& wanted) {
  const Hdf5Call call;
  Hdf5Walk walk(path);
  for (const std::string& name : wanted) walk.look_at(name);
  return std::move(walk.catalogue_);
}

}  // namespace staghorn
