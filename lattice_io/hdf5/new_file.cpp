#include "lattice_io/hdf5/new_file.hpp"

#include <algorithm>

#include "halo/watch/error.hpp"
#include "lattice_io/content/utf8_text.hpp"
#include "lattice_io/files/posix_file.hpp"
#include "lattice_io/hdf5/catalogue.hpp"
#include "lattice_io/hdf5/library.hpp"

namespace staghorn {

namespace {

constexpr std::size_t longest_written = 60000;  // a message is shorter than 64 KiB

// Without times, numbers in place from the beginning, and all attributes in the header of the object.
Hdf5Id creation_of(hid_t kind, const std::string& path) {
  Hdf5Id how(H5Pcreate(kind), path);
  checked(H5Pset_obj_track_times(how, false), path);
  checked(H5Pset_attr_phase_change(how, 65535, 0), path);
  if (kind != H5P_DATASET_CREATE) return how;
  checked(H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY), path);
  checked(H5Pset_fill_time(how, H5D_FILL_TIME_NEVER), path);
  return how;
}

Hdf5Id space_of(const std::vector<std::int64_t>& shape, const std::string& path) {
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  return {H5Screate_simple(int(extents.size()), extents.data(), nullptr), path};
}

Hdf5Id create_dataset(hid_t file, const std::string& path, const std::string& name, hid_t type,
                      const std::vector<std::int64_t>& shape) {
  const Hdf5Id how = creation_of(H5P_DATASET_CREATE, path), space = space_of(shape, path);
  return {H5Dcreate2(file, name.c_str(), type, space, H5P_DEFAULT, how, H5P_DEFAULT), path + ": dataset " + name};
}

Hdf5Id text_type(std::size_t bytes, const std::string& path) {
  Hdf5Id type(H5Tcopy(H5T_C_S1), path);
  checked(H5Tset_size(type, bytes), path);
  checked(H5Tset_cset(type, H5T_CSET_UTF8), path);
  return type;
}

void add_attribute(hid_t object, const std::string& path, const std::string& name, hid_t type, const void* value) {
  const std::string where = path + ": attribute " + name;
  if (checked(H5Aexists(object, name.c_str()), where) > 0) checked(H5Adelete(object, name.c_str()), where);
  const Hdf5Id space(H5Screate(H5S_SCALAR), where);
  const Hdf5Id attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), where);
  checked(H5Awrite(attribute, type, value), where);
}

void add_attributes(hid_t object, const std::string& path, const Hdf5Attributes& attributes) {
  for (const auto& [name, value] : attributes.numbers) add_attribute(object, path, name, H5T_IEEE_F64LE, &value);
  for (const auto& [name, value] : attributes.texts) {
    if (name.empty() || name.size() >= 1024) continue;
    const std::string text = reversible_text(value).substr(0, longest_written);
    const char* const start = text.c_str();
    const Hdf5Id type = text_type(attributes.variable_length ? H5T_VARIABLE : text.size() + 1, path);
    add_attribute(object, path, utf8_text(name), type,
                  attributes.variable_length ? static_cast<const void*>(&start) : start);
  }
}

void add_table(hid_t file, const std::string& path, const Hdf5Table& table) {
  if (number_of_values(table.shape) != std::int64_t(table.numbers.size() + table.words.size()))
    throw Error(path + ": HDF5 table " + table.name, number_of_values(table.shape),
                table.numbers.size() + table.words.size());
  std::size_t longest = 1;
  for (const std::string& word : table.words) longest = std::max(longest, utf8_text(word).size());
  std::string words;
  for (const std::string& word : table.words)
    (words += utf8_text(word)).resize(words.size() + longest - utf8_text(word).size());
  const Hdf5Id type = table.words.empty() ? hdf5_number_type(false, Precision::fp64) : text_type(longest, path);
  const Hdf5Id dataset = create_dataset(file, path, table.name, type, table.shape);
  const void* const values = table.words.empty() ? static_cast<const void*>(table.numbers.data()) : words.data();
  if (number_of_values(table.shape) > 0)
    checked(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), path + ": dataset " + table.name);
  add_attributes(dataset, path, {"", table.texts});
}

std::int64_t data_bytes_of(const NewHdf5Dataset& dataset) {
  return number_of_values(dataset.shape) *
         (dataset.precision == Precision::fp16 ? 2 : 2 * bytes_per_real(dataset.precision));
}

// Where the numbers begin in a file that has the datasets; none otherwise.
std::vector<std::int64_t> offsets_in(hid_t file, const std::vector<NewHdf5Dataset>& datasets) {
  std::vector<std::int64_t> offsets;
  for (const NewHdf5Dataset& dataset : datasets) {
    const Hdf5Id id(H5Dopen2(file, dataset.name.c_str(), H5P_DEFAULT), dataset.name);
    const haddr_t offset = H5Dget_offset(id);
    if (offset == HADDR_UNDEF || H5Dget_storage_size(id) != hsize_t(data_bytes_of(dataset))) return {};
    offsets.push_back(std::int64_t(offset));
  }
  return offsets;
}

// What could not be stored shows up here.
void close_file(Hdf5Id& file, const std::string& path) {
  checked(H5Fflush(file, H5F_SCOPE_GLOBAL), path + " cannot be written");
  file = Hdf5Id();
}

}  // namespace

std::vector<std::int64_t> begin_hdf5(const std::string& path, const std::vector<NewHdf5Dataset>& datasets,
                                     bool goes_on) {
  const Hdf5Call call;
  if (goes_on && PosixFile::open_to_read(path).size() > 0) try {
      const std::vector<std::int64_t> offsets = offsets_in(open_hdf5(path), datasets);
      if (!offsets.empty()) return offsets;
    } catch (const FileError&) {  // it is made anew
    }
  std::int64_t all_bytes = 0;
  for (const NewHdf5Dataset& dataset : datasets) all_bytes += data_bytes_of(dataset);
  PosixFile::open_to_write(path).write_text(all_bytes, ".");  // so that a limit is told by the system's own words
  const Hdf5Id how = creation_of(H5P_FILE_CREATE, path);
  const Hdf5Id access = hdf5_access(false, datasets.empty() ? 0 : std::uint64_t(data_bytes_of(datasets[0])));
  Hdf5Id file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, how, access), path + " cannot be written");
  for (const NewHdf5Dataset& dataset : datasets) {
    const std::string group = dataset.name.substr(0, dataset.name.find('/'));
    if (group != dataset.name && H5Lexists(file, group.c_str(), H5P_DEFAULT) == 0) {
      const Hdf5Id of_group = creation_of(H5P_GROUP_CREATE, path);
      const Hdf5Id made(H5Gcreate2(file, group.c_str(), H5P_DEFAULT, of_group, H5P_DEFAULT), path);
    }
    const Hdf5Id type = hdf5_number_type(dataset.precision != Precision::fp16, dataset.precision);
    create_dataset(file, path, dataset.name, type, dataset.shape);
  }
  const std::vector<std::int64_t> offsets = offsets_in(file, datasets);
  close_file(file, path);
  return offsets;
}

void finish_hdf5(const std::string& path, const std::vector<Hdf5Attributes>& attributes,
                 const std::vector<Hdf5Table>& tables) {
  {
    const Hdf5Call call;
    Hdf5Id file = open_hdf5(path, true);
    for (const Hdf5Table& table : tables) add_table(file, path, table);
    for (const Hdf5Attributes& of_object : attributes) {
      const Hdf5Id object(H5Oopen(file, of_object.object.c_str(), H5P_DEFAULT), path + ": " + of_object.object);
      add_attributes(object, path, of_object);
    }
    close_file(file, path);
  }
  PosixFile::open_to_write(path).flush_and_close();
}

}  // namespace staghorn
