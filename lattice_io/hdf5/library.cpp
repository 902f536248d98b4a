#include "lattice_io/hdf5/library.hpp"

#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

std::recursive_mutex& library_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

herr_t take_first(unsigned, const H5E_error2_t* error, void* text) {
  *static_cast<std::string*>(text) = error->desc ? error->desc : "";
  return 1;  // the others say what this one made fail
}

herr_t take_name(hid_t, const char* name, const H5L_info_t*, void* names) {
  constexpr std::size_t most = 100'000;
  auto& list = *static_cast<std::vector<std::string>*>(names);
  list.push_back(name);
  return list.size() >= most;
}

herr_t take_attribute(hid_t, const char* name, const H5A_info_t*, void* names) {
  return take_name(0, name, nullptr, names);
}

std::string version_of(unsigned major, unsigned minor) { return std::to_string(major) + "." + std::to_string(minor); }

}  // namespace

Hdf5Call::Hdf5Call() : alone_(library_mutex()) {
  static const herr_t no_work_at_exit = H5dont_atexit();  // after a full disk it would crash there
  static_cast<void>(no_work_at_exit);
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  if (major != H5_VERS_MAJOR || minor != H5_VERS_MINOR)
    throw Error(ErrorKind::unsupported, "HDF5 library",
                "version " + version_of(H5_VERS_MAJOR, H5_VERS_MINOR) + ", with which Staghorn was built",
                version_of(major, minor) + ", which this program has loaded");
  H5Eget_auto2(H5E_DEFAULT, &print_, &printed_to_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Hdf5Call::~Hdf5Call() { H5Eset_auto2(H5E_DEFAULT, print_, printed_to_); }

void fail_as_hdf5(const std::string& where) {
  std::string why;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &why);
  H5Eclear2(H5E_DEFAULT);
  if (why.find("bad version number") != std::string::npos)
    why += "; a newer HDF5 than " + version_of(H5_VERS_MAJOR, H5_VERS_MINOR) + " wrote the file, or it is damaged";
  throw FileError(where + ": the HDF5 library says: " + (why.empty() ? "no reason" : why));
}

Hdf5Id hdf5_access(bool in_chunks, unsigned long long data_bytes) {
  Hdf5Id access(H5Pcreate(H5P_FILE_ACCESS), "HDF5");
#if H5_VERS_MINOR > 12 || (H5_VERS_MINOR == 12 && H5_VERS_RELEASE >= 1) || (H5_VERS_MINOR == 10 && H5_VERS_RELEASE >= 7)
  checked(H5Pset_file_locking(access, false, true), "HDF5");
#endif
  const H5F_libver_t version = in_chunks ? H5F_LIBVER_V110 : H5F_LIBVER_V18;  // an index of chunks with checksums
  checked(H5Pset_libver_bounds(access, version, H5F_LIBVER_LATEST), "HDF5");
  if (data_bytes > 0) checked(H5Pset_alignment(access, data_bytes, 4096), "HDF5");
  return access;
}

Hdf5Id open_hdf5(const std::string& path, bool to_write) {
  const Hdf5Id access = hdf5_access();
  const hid_t file = H5Fopen(path.c_str(), to_write ? H5F_ACC_RDWR : H5F_ACC_RDONLY, access);
  try {
    return {file, path};
  } catch (const FileError& error) {
    // The library's words: "truncated file: eof = 10, sblock->base_addr = 0, stored_eof = 20"
    const std::string words = error.what();
    if (words.find("truncated file") == std::string::npos) throw;
    const auto number_after = [&](const std::string& name) {
      const std::size_t at = words.find(name);
      if (at == std::string::npos) throw FileError(path + " is truncated" + words.substr(path.size()));
      const std::size_t begin = at + name.size();
      return words.substr(begin, words.find_first_not_of("0123456789", begin) - begin);
    };
    throw FileError(path + " is truncated", number_after("stored_eof = ") + " bytes", number_after(": eof = "));
  }
}

Hdf5Id hdf5_number_type(bool is_complex, Precision precision, const char* re, const char* im, H5T_order_t order) {
  const hid_t little = precision == Precision::fp64   ? H5T_IEEE_F64LE
                       : precision == Precision::fp32 ? H5T_IEEE_F32LE
                                                      : H5T_STD_I16LE;
  Hdf5Id number(H5Tcopy(little), "HDF5");
  checked(H5Tset_order(number, order), "HDF5");
  if (!is_complex) return number;
  const auto half = std::size_t(bytes_per_real(precision));
  Hdf5Id type(H5Tcreate(H5T_COMPOUND, 2 * half), "HDF5");
  checked(H5Tinsert(type, re, 0, number), "HDF5");
  checked(H5Tinsert(type, im, half, number), "HDF5");
  return type;
}

std::vector<std::string> hdf5_member_names(hid_t group, const std::string& where) {
  std::vector<std::string> names;
  checked(H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, take_name, &names), where);
  return names;
}

std::vector<std::string> hdf5_attribute_names(hid_t object, const std::string& where) {
  std::vector<std::string> names;
  checked(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, nullptr, take_attribute, &names), where);
  return names;
}

}  // namespace staghorn
