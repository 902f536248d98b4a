// A file read and written at given offsets, with the system's own words in every error. RAII; local.
//
// The class uses pread and pwrite, not MPI-IO. A full disk, a file-size limit or a truncated file is then reported by
// errno at the call that met it, with every MPI library. SiteSlabs makes the accesses large and contiguous.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace staghorn {

class PosixFile {
 public:
  // Throws Error unless `path` is a regular file that may be opened so.
  static PosixFile open_to_read(const std::string& path);
  static PosixFile open_to_write(const std::string& path);
  // Creates `path`, which must not exist.
  static PosixFile create(const std::string& path);

  ~PosixFile();
  PosixFile(PosixFile&& other) noexcept;
  PosixFile& operator=(PosixFile&&) = delete;

  const std::string& path() const { return path_; }
  std::int64_t size() const;  // bytes, now

  // Fills `bytes` from `offset` on. The threads share long reads. Throws Error with expected and found size if the file
  // ends before.
  void read(std::int64_t offset, std::span<std::byte> bytes) const;
  std::string read_text(std::int64_t offset, std::int64_t n_bytes) const;
  // Writes all of `bytes`; throws Error (disk full, quota, file-size limit, ...) otherwise.
  void write(std::int64_t offset, std::span<const std::byte> bytes) const;
  void write_text(std::int64_t offset, const std::string& text) const;
  // Puts everything written on the disk, and closes. Errors of delayed writes show up here.
  void flush_and_close();

 private:
  PosixFile(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  int descriptor_;
  std::string path_;
};

}  // namespace staghorn
