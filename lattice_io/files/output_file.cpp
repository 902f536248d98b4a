#include "lattice_io/files/output_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <random>

#include "halo/watch/error.hpp"
#include "lattice_io/files/checksums.hpp"
#include "lattice_io/files/posix_file.hpp"

namespace staghorn {

namespace fs = std::filesystem;

FileSizeSignalBlocked::FileSizeSignalBlocked() {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &blocked, &previous_);
}

FileSizeSignalBlocked::~FileSizeSignalBlocked() {
  if (!sigismember(&previous_, SIGXFSZ)) {  // swallow the signal of a write that failed and was reported
    sigset_t pending;
    sigemptyset(&pending);
    sigaddset(&pending, SIGXFSZ);
    const timespec at_once{};
    while (sigtimedwait(&pending, nullptr, &at_once) > 0) continue;
  }
  pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
}

namespace {

constexpr const char* standard_output = "-";  // in the words of other programs

void refuse_to_replace(const std::string& path, bool force) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return;
  if (!fs::is_regular_file(status))
    throw FileError(path, "the name of a file to write", fs::is_directory(status) ? "a directory" : "something else");
  if (!force) throw FileError(path + " exists already; `force` replaces it");
}

// A symbolic link is followed, so that the file it names is replaced and not the link.
fs::path resolved(const std::string& path) {
  std::error_code error;
  const fs::path target = fs::is_symlink(path, error) ? fs::weakly_canonical(path, error) : fs::path(path);
  return error || target.empty() ? fs::path(path) : target;
}

// Every writer has a name of its own, even among processes of one number on several hosts.
std::string temporary_beside(const fs::path& target) {
  constexpr std::size_t longest_start = 150;  // file systems allow 255 bytes in all
  std::random_device random;
  return (target.parent_path() / ("." + target.filename().string().substr(0, longest_start) + ".partial-" +
                                  std::to_string(getpid()) + "-" + hexadecimal(random()) + hexadecimal(random())))
      .string();
}

// Gives the file its final name. Without `force` an existing file stays, even one that has appeared this moment.
void rename_to(const std::string& temporary, const std::string& path, bool force) {
  const std::string target = resolved(path).string();
  const auto fail = [&] { throw FileError(path + ": renaming the complete file: " + std::strerror(errno)); };
  if (!force) {
    if (::link(temporary.c_str(), target.c_str()) == 0) {
      ::unlink(temporary.c_str());
      return;
    }
    if (errno == EEXIST) refuse_to_replace(path, force);
    if (errno != EPERM && errno != ENOSYS && errno != EOPNOTSUPP) fail();  // no hard links on this file system
  }
  if (std::rename(temporary.c_str(), target.c_str()) != 0) fail();
}

}  // namespace

OwnFile::~OwnFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

OutputFile::OutputFile(const Communicator& communicator, const std::string& path, bool force, WhenUnfinished unfinished)
    : communicator_(communicator), path_(path), force_(force) {
  communicator_.agree([&] {
    if (!communicator_.is_root()) return;
    if (path == standard_output)
      throw Error("output file", "the name of a file, which is complete before it appears", "'-', standard output");
    if (fs::path(path).filename().empty()) throw Error("output file", "a file name", "'" + path + "'");
    refuse_to_replace(path, force);
    const bool keeps = unfinished == WhenUnfinished::keep;
    temporary_path_ = keeps ? path + ".unfinished" : temporary_beside(resolved(path));
    std::error_code error;
    if (keeps && fs::exists(temporary_path_, error)) return;
    try {
      PosixFile file = PosixFile::create(temporary_path_);
      if (keeps)
        made_ = temporary_path_;
      else
        own_.own(temporary_path_);
      file.flush_and_close();
    } catch (const Error& error) {
      throw Error(error.kind(), in_users_words(error.what()));
    }
  });
  temporary_path_ = communicator_.broadcast(temporary_path_);
}

OutputFile::~OutputFile() {
  std::error_code error;
  if (!made_.empty() && fs::file_size(made_, error) == 0 && !error) ::unlink(made_.c_str());
}

void OutputFile::fill(const std::function<void(const std::string&)>& work) {
  try {
    work(temporary_path_);
  } catch (const LocalError&) {
    throw;
  } catch (const Error& error) {
    throw Error(error.kind(), in_users_words(error.what()));
  }
  communicator_.agree([&] {
    if (!communicator_.is_root()) return;
    refuse_to_replace(path_, force_);
    rename_to(temporary_path_, path_, force_);
    own_.release();
  });
}

std::string OutputFile::in_users_words(const std::string& message) const {
  if (temporary_path_.empty() || message.rfind(temporary_path_, 0) != 0) return message;
  return path_ + message.substr(temporary_path_.size());
}

void check_writable(const Communicator& communicator, const std::string& path, bool force) {
  OutputFile trial(communicator, path, force);  // creates and removes its temporary file
}

}  // namespace staghorn
