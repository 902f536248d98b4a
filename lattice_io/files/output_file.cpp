#include "lattice_io/files/output_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <random>
#include <utility>

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

// Every writer has a name of its own, even among processes of one number on several hosts.
std::string temporary_beside(const fs::path& target) {
  constexpr std::size_t longest_start = 150;  // file systems allow 255 bytes in all
  std::random_device random;
  return (target.parent_path() / ("." + target.filename().string().substr(0, longest_start) + ".partial-" +
                                  std::to_string(getpid()) + "-" + hexadecimal(random()) + hexadecimal(random())))
      .string();
}

// Gives the file its final name. Without `force` an existing file stays, even one that has appeared this moment.
void rename_to(const std::string& temporary, const std::string& path, const std::string& target, bool force) {
  const auto fail = [&] { throw FileError(path + ": renaming the complete file: " + std::strerror(errno)); };
  if (!force) {
    if (::link(temporary.c_str(), target.c_str()) == 0) {
      ::unlink(temporary.c_str());
      return;
    }
    if (errno == EEXIST) throw FileError(path + " exists already; `force` replaces it");
    if (errno != EPERM && errno != ENOSYS && errno != EOPNOTSUPP) fail();  // no hard links on this file system
  }
  if (std::rename(temporary.c_str(), target.c_str()) != 0) fail();
}

// A file that got its name, and its predecessor, which gets it back where another file does not get its own.
struct Renamed {
  std::string temporary, target, before;  // `before` is empty: there was none

  void undo() const {
    std::rename(target.c_str(), temporary.c_str());
    bring_back();
  }

  void bring_back() const {
    if (before.empty()) return;
    std::rename(before.c_str(), target.c_str());
    ::unlink(before.c_str());  // where both names were of one file
  }
};

// Keeps what lies at `target` under another name; "" where nothing does.
std::string kept_before(const std::string& target) {
  const std::string name = temporary_beside(target);
  if (::link(target.c_str(), name.c_str()) == 0) return name;
  if (errno == ENOENT) return "";
  return std::rename(target.c_str(), name.c_str()) == 0 ? name : "";  // no hard links on this file system
}

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

}  // namespace

fs::path written_file(const std::string& path) {
  constexpr int most_links = 40;  // as Linux
  fs::path file = path;
  std::error_code error;
  for (int n = 0; n < most_links && fs::is_symlink(file, error); ++n) {
    const fs::path next = fs::read_symlink(file, error);
    if (error) break;
    file = next.is_absolute() ? next : file.parent_path() / next;
  }
  return file;
}

bool file_exists(const Communicator& communicator, const std::string& path) {
  std::error_code error;
  return communicator.any(communicator.is_root() && fs::exists(path, error));
}

std::string unfinished_file(const std::string& path) { return written_file(path).string() + ".unfinished"; }

void OwnFile::own(const std::string& path) {
  path_ = path;
  process_ = getpid();
}

OwnFile::~OwnFile() {
  if (!path_.empty() && process_ == getpid()) ::unlink(path_.c_str());
}

OutputFile::OutputFile(const Communicator& communicator, const std::string& path, bool force, WhenUnfinished unfinished)
    : communicator_(communicator), path_(path), force_(force) {
  communicator_.agree([&] {
    if (!communicator_.is_root()) return;
    if (path == standard_output)
      throw Error("output file", "the name of a file, which is complete before it appears", "'-', standard output");
    if (fs::path(path).filename().empty()) throw Error("output file", "a file name", "'" + path + "'");
    target_ = written_file(path).string();
    std::error_code error;
    if (fs::is_symlink(target_, error))
      throw FileError(path, "a symbolic link to a file, or to where one can be", "one that leads back to itself");
    const fs::path folder = fs::path(target_).parent_path();
    if (target_ != path && (fs::path(target_).filename().empty() || (!folder.empty() && !is_folder(folder))))
      throw FileError(path, "a symbolic link to a file, or to where one can be",
                      "'" + target_ + "', in a folder that does not exist");
    refuse_to_replace();  // in a folder, too, where no lock can be made
    lock_ = NameLock(path, target_);
    refuse_to_replace();
    const bool keeps = unfinished == WhenUnfinished::keep;
    temporary_path_ = keeps ? unfinished_file(path) : temporary_beside(target_);
    if (keeps) {
      lock_of_unfinished_ = NameLock(temporary_path_, temporary_path_);
      const fs::file_status found = fs::symlink_status(temporary_path_, error);
      if (fs::exists(found) && !fs::is_regular_file(found))
        throw FileError(temporary_path_, "a file that an earlier job left, or none", "something else");
      if (fs::exists(found)) return;
    }
    try {
      PosixFile file = PosixFile::create(temporary_path_);
      (keeps ? made_ : own_).own(temporary_path_);
      file.flush_and_close();
    } catch (const Error& error) {
      throw Error(error.kind(), in_users_words(error.what()));
    }
  });
  temporary_path_ = communicator_.broadcast(temporary_path_);
}

OutputFile::~OutputFile() {
  std::error_code error;
  if (communicator_.is_root() && (fs::file_size(temporary_path_, error) > 0 || error)) made_.release();
}

void OutputFile::refuse_to_replace() const {
  std::error_code error;
  const fs::file_status status = fs::status(target_, error);
  if (!fs::exists(status)) return;
  if (!fs::is_regular_file(status))
    throw FileError(path_, "the name of a file to write", fs::is_directory(status) ? "a directory" : "something else");
  if (!force_) throw FileError(path_ + " exists already; `force` replaces it");
}

void OutputFile::complete(const std::function<void(const std::string&)>& work) {
  try {
    work(temporary_path_);
  } catch (const LocalError&) {
    throw;
  } catch (const Error& error) {
    throw Error(error.kind(), in_users_words(error.what()));
  }
}

void OutputFile::fill(const std::function<void(const std::string&)>& work) {
  complete(work);
  communicator_.agree([&] {
    if (communicator_.is_root()) FilesTogether::rename_all({this});
  });
}

std::string OutputFile::in_users_words(const std::string& message) const {
  if (temporary_path_.empty() || message.rfind(temporary_path_, 0) != 0) return message;
  return path_ + message.substr(temporary_path_.size());
}

void FilesTogether::rename_all(const std::vector<OutputFile*>& files) {
  for (const OutputFile* file : files) file->refuse_to_replace();
  std::vector<Renamed> done;
  try {
    for (const OutputFile* file : files) {
      const std::string before = files.size() > 1 && file->force_ ? kept_before(file->target_) : "";
      const Renamed renamed{file->temporary_path_, file->target_, before};
      try {
        rename_to(file->temporary_path_, file->path_, file->target_, file->force_);
      } catch (const Error&) {
        renamed.bring_back();
        throw;
      }
      done.push_back(renamed);
    }
  } catch (const Error&) {
    for (auto file = done.rbegin(); file != done.rend(); ++file) file->undo();
    throw;
  }
  for (OutputFile* file : files) {
    file->own_.release();
    file->made_.release();
  }
  for (const Renamed& file : done)
    if (!file.before.empty()) ::unlink(file.before.c_str());
}

void FilesTogether::publish() {
  communicator_.agree([&] {
    if (!communicator_.is_root()) return;
    std::vector<OutputFile*> files;
    for (const auto& file : files_) files.push_back(file.get());
    rename_all(files);
  });
  files_.clear();
}

std::string FilesTogether::set_aside() {
  std::string words;
  communicator_.agree([&] {
    if (!communicator_.is_root()) return;
    for (const auto& file : files_) {
      const std::string wanted = unfinished_file(file->path_), &there = file->temporary_path_;
      const bool has_it = ::link(there.c_str(), wanted.c_str()) == 0;  // an earlier job may have left that name
      if (!has_it) file->own_.release();
      file->made_.release();
      words += "; what was to be " + file->path_ + " is in " + (has_it ? wanted : there);
    }
  });
  files_.clear();
  return communicator_.broadcast(words);
}

void write_whole_file(const Communicator& communicator, const std::string& path, const Replacing& how,
                      const std::function<void(const std::string&)>& work) {
  auto file = std::make_unique<OutputFile>(communicator, path, how.force);
  if (!how.with) return file->fill(work);
  file->complete(work);
  how.with->add(std::move(file));
}

void ClaimedNames::claim(const std::string& path, bool force, WrittenBy writers) {
  OutputFile trial(communicator_, path, force);  // creates and removes its temporary file
  communicator_.agree([&] {
    std::error_code error;
    for (const NameLock& other : locks_)
      if (trial.lock_.was_held() && communicator_.is_root() && fs::equivalent(trial.lock_.file(), other.file(), error))
        throw FileError(path, "another file for each output of a job", "one that this job writes under another name");
    if (writers == WrittenBy::all_ranks && !fs::exists(trial.temporary_path(), error))
      throw FileError(path, "a folder that all hosts share, for a file that all ranks write", "one that differs");
  });
  locks_.push_back(std::move(trial.lock_));
}

void check_writable(const Communicator& communicator, const std::string& path, bool force) {
  ClaimedNames(communicator).claim(path, force, WrittenBy::rank_0);
}

}  // namespace staghorn
