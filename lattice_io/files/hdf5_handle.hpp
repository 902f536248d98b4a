// RAII for HDF5 identifiers, and HDF5's error stack as one line of text. Included by .cpp files only.
#pragma once

#include <hdf5.h>

#include <algorithm>
#include <string>
#include <utility>

#include "halo/watch/error.hpp"
#include "lattice_io/files/header_text.hpp"

namespace staghorn {

// While one lives, the library does not print its error stack (hdf5_error puts it into the message instead).
class QuietHdf5 {
 public:
  QuietHdf5() {
    // After a close that failed (full disk) HDF5's exit handler would touch freed memory. It is not needed: every
    // handle is closed by its owner. (The call fails only if it was made before.)
    (void)H5dont_atexit();
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~QuietHdf5() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }
  QuietHdf5(const QuietHdf5&) = delete;
  QuietHdf5& operator=(const QuietHdf5&) = delete;

 private:
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

// "FILE: what: the innermost message of HDF5's error stack", or the system's own words where it quotes them.
inline Error hdf5_error(const std::string& path, const std::string& what) {
  std::string innermost = "no message from HDF5";
  const auto keep_first = [](unsigned n, const H5E_error2_t* error, void* text) -> herr_t {
    if (n == 0 && error->desc != nullptr) *static_cast<std::string*>(text) = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, &innermost);
  const std::string quote = "error message = '";
  if (const auto at = innermost.find(quote); at != std::string::npos) {
    innermost.erase(0, at + quote.size());
    innermost.resize(std::min(innermost.size(), innermost.find('\'')));
  }
  return Error(path + ": " + what + ": " + printable(innermost));
}

// The return value of an HDF5 call; throws Error if it tells of a failure.
template <class Result>
Result check_hdf5(Result result, const std::string& path, const char* what) {
  if (result < 0) throw hdf5_error(path, what);
  return result;
}

class Hdf5Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Hdf5Handle(hid_t id, Close close, const std::string& path, const char* what)
      : id_(check_hdf5(id, path, what)), close_(close) {}
  ~Hdf5Handle() {
    if (id_ >= 0) close_(id_);
  }
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&&) = delete;

  operator hid_t() const { return id_; }
  // Closes now, so that an error can be reported.
  void close(const std::string& path, const char* what) { check_hdf5(close_(std::exchange(id_, -1)), path, what); }

 private:
  hid_t id_;
  Close close_;
};

}  // namespace staghorn
