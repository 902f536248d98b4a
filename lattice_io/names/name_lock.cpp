#include "lattice_io/names/name_lock.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <thread>
#include <utility>

#include "halo/watch/error.hpp"
#include "lattice_io/names/owner.hpp"
#include "lattice_io/names/small_file.hpp"

namespace staghorn {

namespace fs = std::filesystem;

namespace {

constexpr int most_looks = 500;  // at locks that are just made, given up or taken over
constexpr std::chrono::milliseconds between_looks{10};

// File systems allow names of 255 bytes. Long ones are told apart by a hash.
std::string lock_file(const fs::path& target) {
  constexpr std::size_t longest = 180, kept = 150;
  std::string name = target.filename().string();
  if (name.size() > longest) {
    std::uint64_t hash = 14695981039346656037u;  // FNV-1a
    for (const unsigned char letter : name) hash = (hash ^ letter) * 1099511628211u;
    char digits[20];
    std::snprintf(digits, sizeof digits, "-%016llx", static_cast<unsigned long long>(hash));
    name = name.substr(0, kept) + digits;
  }
  return (target.parent_path() / ("." + name + ".lock")).string();
}

// Another thread or process holds the lock.
struct HeldByAnother : FileError {
  HeldByAnother(const std::string& path, const std::string& lock)
      : FileError(path, "a name that no other job writes to", lock), lock(lock) {}
  std::string lock;
};

// One attempt at a lock, and what is told of it.
class Attempt {
 public:
  Attempt(const std::string& path, const std::string& lock)
      : path_(path), lock_(lock), me_(this_thread()), text_(text_of(me_)) {}

  // The text of the lock made; empty where this thread holds it already.
  std::string take() {
    for (int look = 0; look < most_looks; ++look) {
      if (look > 0) std::this_thread::sleep_for(between_looks);
      const std::optional<std::string> found = put(lock_);
      if (!found) return text_;
      const std::optional<Owner> owner = owner_of(*found);
      if (!owner) continue;  // it is given up, or written, at this moment
      if (is_this_thread(*owner)) return "";
      if (life_of(*owner) != Life::over) refuse(*owner);
      remove(lock_, *found, *owner);
    }
    throw FileError(path_, "a lock that says who holds it",
                    "'" + lock_ + "', which does not; remove it if no job writes to that name");
  }

 private:
  [[noreturn]] void fail(const char* what) const { throw FileError(path_ + ": " + what + ": " + std::strerror(errno)); }

  [[noreturn]] void refuse(const Owner& owner) const {
    const std::string advice =
        life_of(owner) == Life::elsewhere ? "; if that process has ended, remove '" + lock_ + "'" : "";
    throw HeldByAnother(path_, "the lock of " + describe(owner) + advice);
  }

  // Writes the text of this attempt to a file, or closes it and throws.
  void fill(int descriptor) const {
    const ssize_t n = ::write(descriptor, text_.data(), text_.size());
    if (n == ssize_t(text_.size())) return;
    const int why = n < 0 ? errno : ENOSPC;
    ::close(descriptor);
    errno = why;
    fail("cannot be locked");
  }

  // Gives the name `lock` to a file with the text of this attempt, which is whole before. Returns 0 or errno.
  int link_to(const std::string& lock) const {
    const std::string folder = fs::path(lock).parent_path().string();
    const int nameless = ::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
    if (nameless >= 0) {
      fill(nameless);
      const std::string from = "/proc/self/fd/" + std::to_string(nameless);
      const int why = ::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, lock.c_str(), AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
      ::close(nameless);
      if (why == 0 || why == EEXIST) return why;
    }
    const std::string own = lock + ".new-" + me_.mark;
    const int descriptor = ::open(own.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) fail("cannot be created");
    try {
      fill(descriptor);
    } catch (const FileError&) {
      ::unlink(own.c_str());
      throw;
    }
    ::close(descriptor);
    const int why = ::link(own.c_str(), lock.c_str()) == 0 ? 0 : errno;
    struct stat status {};
    const bool has_two_names = ::stat(own.c_str(), &status) == 0 && status.st_nlink == 2;  // NFS may repeat a call
    ::unlink(own.c_str());
    return has_two_names ? 0 : why;
  }

  // Makes `lock`. Returns what is there instead.
  std::optional<std::string> put(const std::string& lock) const {
    int why = link_to(lock);
    if (why == EPERM || why == ENOSYS || why == EOPNOTSUPP || why == EMLINK) {  // no hard links on this file system
      const int descriptor = ::open(lock.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      why = descriptor >= 0 ? 0 : errno;
      if (descriptor >= 0) fill(descriptor);
      if (descriptor >= 0) ::close(descriptor);
    }
    if (why == 0) return std::nullopt;
    if (why == EEXIST) return text_at(lock);
    errno = why;
    fail("cannot be locked");
  }

  // "" where it is gone.
  std::string text_at(const std::string& lock) const {
    const std::optional<std::string> text = small_file(lock);
    if (!text && errno != ENOENT && errno != ESTALE) fail(("the lock '" + lock + "' cannot be read").c_str());
    return text.value_or("");
  }

  // Removes `lock`, whose owner is over and whose text is `seen`, unless another does.
  void remove(const std::string& lock, const std::string& seen, const Owner& dead) const {
    const std::string guard = lock_ + ".after-" + dead.mark;
    if (const std::optional<std::string> found = put(guard)) {
      const std::optional<Owner> owner = owner_of(*found);
      if (owner && life_of(*owner) == Life::over) remove(guard, *found, *owner);
      return;
    }
    const bool is_the_same = text_at(lock) == seen;
    const int why = is_the_same && ::unlink(lock.c_str()) != 0 && errno != ENOENT ? errno : 0;
    ::unlink(guard.c_str());
    errno = why;
    if (why != 0) fail(("the lock '" + lock + "', whose owner has ended, cannot be removed").c_str());
  }

  const std::string &path_, &lock_;
  Owner me_;
  std::string text_;
};

}  // namespace

NameLock::NameLock(const std::string& path, const std::string& target)
    : file_(lock_file(target)), text_(Attempt(path, file_).take()), process_(getpid()) {}

std::optional<NameLock> NameLock::take_if_free(const std::string& path, const std::string& target,
                                               std::string& held_by) {
  try {
    return NameLock(path, target);
  } catch (const HeldByAnother& held) {
    held_by = held.lock;
    return std::nullopt;
  }
}

NameLock::~NameLock() {
  if (text_.empty() || process_ != getpid()) return;
  // Who has removed it by hand may have let in another.
  if (small_file(file_) == text_) ::unlink(file_.c_str());
}

NameLock::NameLock(NameLock&& other) noexcept
    : file_(std::move(other.file_)), text_(std::exchange(other.text_, {})), process_(other.process_) {}

NameLock& NameLock::operator=(NameLock&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(text_, other.text_);
  std::swap(process_, other.process_);
  return *this;
}

}  // namespace staghorn
