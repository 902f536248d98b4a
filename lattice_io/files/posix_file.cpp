#include "lattice_io/files/posix_file.hpp"

#include <fcntl.h>
#include <omp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "halo/watch/activity.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

constexpr std::size_t least_bytes_per_thread = std::size_t{1} << 18;  // of a read that threads share
constexpr std::size_t least_bytes_for_disk = std::size_t{1} << 20;    // of a write: the disk likes long pieces

[[noreturn]] void fail(const std::string& path, const std::string& what) {
  throw FileError(path + ": " + what + ": " + std::strerror(errno));
}

int open_or_throw(const std::string& path, int flags, const char* what) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  if (descriptor < 0) fail(path, what);
  return descriptor;
}

}  // namespace

PosixFile PosixFile::open_to_read(const std::string& path) {
  struct stat status;
  if (::stat(path.c_str(), &status) != 0) {
    const int why = errno;
    std::error_code none;
    const std::string target = std::filesystem::read_symlink(path, none).string();
    errno = why;
    if (why == ENOENT && !target.empty())
      throw FileError(path, "a file",
                      "a symbolic link to " + target + ", which is not there" +
                          (target.find("annex/objects/") == std::string::npos ? "" : "; `git annex get` fetches it"));
    fail(path, "cannot be read");
  }
  if (!S_ISREG(status.st_mode))
    throw FileError(path, "a file", S_ISDIR(status.st_mode) ? "a directory" : "something else");
  return {open_or_throw(path, O_RDONLY, "cannot be read"), path};
}

PosixFile PosixFile::open_to_write(const std::string& path) {
  return {open_or_throw(path, O_RDWR, "cannot be written"), path};
}

PosixFile PosixFile::create(const std::string& path) {
  return {open_or_throw(path, O_RDWR | O_CREAT | O_EXCL, "cannot be created"), path};
}

PosixFile::~PosixFile() {
  if (descriptor_ >= 0) ::close(descriptor_);  // after reading, or while an error unwinds
}

PosixFile::PosixFile(PosixFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

std::int64_t PosixFile::size() const {
  struct stat status;
  if (::fstat(descriptor_, &status) != 0) fail(path_, "size");
  return status.st_size;
}

void PosixFile::read(std::int64_t offset, std::span<std::byte> bytes) const {
  const Activity activity("reading a file");
  // One request a thread: parallel file systems like few large ones.
  const std::int64_t n_ranges =
      std::clamp<std::int64_t>(std::int64_t(bytes.size() / least_bytes_per_thread), 1, omp_get_max_threads());
  const std::size_t bytes_per_range = (bytes.size() + std::size_t(n_ranges) - 1) / std::size_t(n_ranges);
  // The first byte that could not be read, and why: errno, or 0 at the end of the file.
  std::int64_t failed_at = -1;
  int failure = 0;
#pragma omp parallel for schedule(static)
  for (std::int64_t range = 0; range < n_ranges; ++range) {
    const std::size_t first = std::min(bytes.size(), std::size_t(range) * bytes_per_range);
    const std::size_t last = std::min(bytes.size(), first + bytes_per_range);
    for (std::size_t done = first; done < last;) {
      const ssize_t n = ::pread(descriptor_, bytes.data() + done, last - done, offset + std::int64_t(done));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) {
        const int why = n < 0 ? errno : 0;
#pragma omp critical(staghorn_posix_file_read)
        if (failed_at < 0 || std::int64_t(done) < failed_at) {
          failed_at = std::int64_t(done);
          failure = why;
        }
        break;
      }
      done += std::size_t(n);
      made_progress();
    }
  }
  if (failed_at < 0) return;
  if (failure != 0) {
    errno = failure;
    fail(path_, "reading at byte " + std::to_string(offset + failed_at));
  }
  throw FileError(path_ + " is truncated", "at least " + std::to_string(offset + std::int64_t(bytes.size())) + " bytes",
                  std::to_string(size()) + " bytes");
}

std::string PosixFile::read_text(std::int64_t offset, std::int64_t n_bytes) const {
  std::string text(std::size_t(n_bytes), '\0');
  read(offset, std::as_writable_bytes(std::span(text)));
  return text;
}

void PosixFile::write(std::int64_t offset, std::span<const std::byte> bytes) const {
  const Activity activity("writing a file");
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::pwrite(descriptor_, bytes.data() + done, bytes.size() - done, offset + std::int64_t(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail(path_, "writing at byte " + std::to_string(offset + std::int64_t(done)));
    done += std::size_t(n);
    made_progress();
  }
#ifdef SYNC_FILE_RANGE_WRITE
  // The disk begins now, not at the flush. What fails here fails there again, with its error.
  if (bytes.size() >= least_bytes_for_disk)
    ::sync_file_range(descriptor_, offset, std::int64_t(bytes.size()), SYNC_FILE_RANGE_WRITE);
#endif
}

void PosixFile::write_text(std::int64_t offset, const std::string& text) const {
  write(offset, std::as_bytes(std::span(text)));
}

void PosixFile::flush_and_close() {
  const Activity activity("flushing a file to disk");
  if (::fsync(descriptor_) != 0) fail(path_, "flushing to disk");
  if (::close(std::exchange(descriptor_, -1)) != 0) fail(path_, "closing");
}

}  // namespace staghorn
