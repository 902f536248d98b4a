// The HDF5 library: its objects end with their owners, its failures become Errors with its own words. Local.
#pragma once

#define H5_USE_110_API  // later versions of HDF5 have it too
#include <hdf5.h>

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "dirac/algebra/precision.hpp"

#undef H5CHECK  // the library would end a process whose HDF5 differs from the headers; Hdf5Call throws Error
#define H5CHECK

namespace staghorn {

// While one lives, its thread alone is in the library, which prints no errors. Every function of this folder that calls
// the library begins with one. Throws Error if the library is another than the headers.
class Hdf5Call {
 public:
  Hdf5Call();
  ~Hdf5Call();
  Hdf5Call(const Hdf5Call&) = delete;
  Hdf5Call& operator=(const Hdf5Call&) = delete;

 private:
  std::unique_lock<std::recursive_mutex> alone_;
  H5E_auto2_t print_ = nullptr;
  void* printed_to_ = nullptr;
};

// Throws FileError "where: the HDF5 library says: ..." with what the library noted first.
[[noreturn]] void fail_as_hdf5(const std::string& where);

// The result of a function of the library that is negative where it fails.
template <class Result>
Result checked(Result result, const std::string& where) {
  if (result < 0) fail_as_hdf5(where);
  return result;
}

class Hdf5Id {
 public:
  Hdf5Id() = default;
  Hdf5Id(hid_t id, const std::string& where) : id_(checked(id, where)) {}
  ~Hdf5Id() {
    if (id_ < 0) return;
    const Hdf5Call call;
    H5Idec_ref(id_);
  }
  Hdf5Id(Hdf5Id&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Hdf5Id& operator=(Hdf5Id&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  operator hid_t() const { return id_; }  // NOLINT: as an argument of the library

 private:
  hid_t id_ = -1;
};

// How files are opened: without locks, which some file systems refuse, and so that all that is written into them has
// checksums. `data_bytes`: of numbers that begin at a multiple of 4096.
Hdf5Id hdf5_access(bool in_chunks = false, unsigned long long data_bytes = 0);
// Throws Error, "is truncated" among them, if the library does not open the file.
Hdf5Id open_hdf5(const std::string& path, bool to_write = false);

// The real and the imaginary part of a complex number, as h5py and others call them.
constexpr const char* complex_parts[][2] = {{"r", "i"}, {"re", "im"}, {"real", "imag"}};
// The type of complex numbers, or of reals; fp16: of 16-bit integers.
Hdf5Id hdf5_number_type(bool is_complex, Precision precision, const char* re = "r", const char* im = "i",
                        H5T_order_t order = H5T_ORDER_LE);

// Sorted; of very many the first.
std::vector<std::string> hdf5_member_names(hid_t group, const std::string& where);
std::vector<std::string> hdf5_attribute_names(hid_t object, const std::string& where);

}  // namespace staghorn
