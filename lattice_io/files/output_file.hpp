// A file that appears under its name only when it is complete: written beside it, then renamed. Collective.
#pragma once

#include <signal.h>

#include <functional>
#include <string>

#include "halo/communicator.hpp"

namespace staghorn {

// While one lives, a write beyond the file-size limit returns an error on this thread instead of killing the process.
class FileSizeSignalBlocked {
 public:
  FileSizeSignalBlocked();
  ~FileSizeSignalBlocked();
  FileSizeSignalBlocked(const FileSizeSignalBlocked&) = delete;
  FileSizeSignalBlocked& operator=(const FileSizeSignalBlocked&) = delete;

 private:
  sigset_t previous_;
};

// A file that is removed when this is. Local.
class OwnFile {
 public:
  OwnFile() = default;
  ~OwnFile();
  OwnFile(const OwnFile&) = delete;
  OwnFile& operator=(const OwnFile&) = delete;

  void own(const std::string& path) { path_ = path; }
  void release() { path_.clear(); }

 private:
  std::string path_;  // empty: none
};

// What becomes of a file whose filling ends early: removed, or kept as PATH.unfinished for a program that goes on.
enum class WhenUnfinished { remove, keep };

class OutputFile {
 public:
  // Creates an empty temporary file in the directory of `path`. Throws Error if `path` exists and not `force`, if it
  // is something else than a file, if it is "-", or if the directory cannot be written. `communicator` must outlive
  // this. With `keep`, its temporary file may be there already, and stays as it is.
  OutputFile(const Communicator& communicator, const std::string& path, bool force,
             WhenUnfinished unfinished = WhenUnfinished::remove);
  // Removes the temporary file at its end unless fill() completed it; of one to be kept, only where it was made here,
  // is empty and is not relied on. Local.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Has `work` write the temporary file, given its name, flush and close it; then renames it to its final name. `work`
  // is collective and throws on all ranks alike; its errors go on with the name that the user gave.
  void fill(const std::function<void(const std::string& temporary_path)>& work);
  // Something else, such as a checkpoint, now speaks of the file: it stays, even if it is empty. Local.
  void stays_even_empty() { made_.clear(); }
  // Where work that began before `fill` writes.
  const std::string& temporary_path() const { return temporary_path_; }

 private:
  std::string in_users_words(const std::string& message) const;

  const Communicator& communicator_;
  FileSizeSignalBlocked blocked_;
  std::string path_, temporary_path_;
  bool force_;
  OwnFile own_;
  std::string made_;  // a file to be kept that was made here and goes again if it is empty; else no name
};

// Throws Error now, before hours of solving, if `path` exists and not `force`, or could not be written. Collective.
void check_writable(const Communicator& communicator, const std::string& path, bool force);

}  // namespace staghorn
