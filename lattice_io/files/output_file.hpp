// A file that appears under its name only when it is complete: written beside it, then renamed. Collective.
//
// While an OutputFile lives, no other job writes to its name (names/name_lock.hpp). A symbolic link is followed, even
// where the file it names does not exist yet: that file is written in its own folder, and the link stays.
#pragma once

#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "halo/communicator.hpp"
#include "lattice_io/names/name_lock.hpp"

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

// A file that is removed when this is, by the process that owns it: not by its child after a fork. Local.
class OwnFile {
 public:
  OwnFile() = default;
  ~OwnFile();
  OwnFile(const OwnFile&) = delete;
  OwnFile& operator=(const OwnFile&) = delete;

  void own(const std::string& path);
  void release() { path_.clear(); }

 private:
  std::string path_;  // empty: none
  int process_ = 0;
};

// The file that is written where `path` is asked for: at the end of its symbolic links. Local.
std::filesystem::path written_file(const std::string& path);
// Whether rank 0 sees something of that name. Collective.
bool file_exists(const Communicator& communicator, const std::string& path);
// Where a file is kept that has no right to its name: beside it. Local.
std::string unfinished_file(const std::string& path);  // "PATH.unfinished"

// What becomes of a file whose filling ends early: removed, or kept as unfinished_file(path) for a program that goes
// on.
enum class WhenUnfinished { remove, keep };

class OutputFile {
 public:
  // Creates an empty temporary file in the directory of `path`. Throws Error if another job writes to `path`, if it
  // exists and not `force`, if it is something else than a file, if it is "-", or if the directory cannot be written.
  // `communicator` must outlive this. With `keep`, its temporary file may be there already, and stays as it is.
  OutputFile(const Communicator& communicator, const std::string& path, bool force,
             WhenUnfinished unfinished = WhenUnfinished::remove);
  // Removes the temporary file at its end unless it got its name; of one to be kept, only where it was made here,
  // is empty and is not relied on. Local.
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Has `work` write the temporary file, given its name, flush and close it. `work` is collective and throws on all
  // ranks alike; its errors go on with the name that the user gave.
  void complete(const std::function<void(const std::string& temporary_path)>& work);
  // The same, then gives it its final name.
  void fill(const std::function<void(const std::string& temporary_path)>& work);
  // Something else, such as a checkpoint, now speaks of the file: it stays, even if it is empty. Local.
  void stays_even_empty() { made_.release(); }
  // Where work that began before `complete` writes.
  const std::string& temporary_path() const { return temporary_path_; }

 private:
  friend class FilesTogether;
  friend class ClaimedNames;
  void refuse_to_replace() const;
  std::string in_users_words(const std::string& message) const;

  const Communicator& communicator_;
  FileSizeSignalBlocked blocked_;
  NameLock lock_, lock_of_unfinished_;  // of rank 0; given up when the temporary file is gone
  std::string path_, target_, temporary_path_;
  bool force_;
  OwnFile own_;
  // A file to be kept that was made here and goes again if it is empty.
  OwnFile made_;
};

// Complete files that get their names together, or not at all: they belong to each other. Collective.
class FilesTogether {
 public:
  explicit FilesTogether(const Communicator& communicator) : communicator_(communicator) {}

  void add(std::unique_ptr<OutputFile> complete) { files_.push_back(std::move(complete)); }
  // One after the other, at once. Where a name cannot be given, those given before get their old files back: throws
  // Error. Only a process that is killed between two of them leaves one without the other.
  void publish();
  // They are kept as unfinished_file(path), or, where that is taken, under their temporary names. Returns what to tell
  // the user.
  std::string set_aside();

 private:
  friend class OutputFile;
  static void rename_all(const std::vector<OutputFile*>& files);

  const Communicator& communicator_;
  std::vector<std::unique_ptr<OutputFile>> files_;
};

// Whether a file may be replaced; and the files together with which it gets its name, if it has not one at once.
struct Replacing {
  Replacing(bool force, FilesTogether* with = nullptr) : force(force), with(with) {}  // NOLINT: plain flags are many
  bool force;
  FilesTogether* with;
  int compress = 0;  // of HDF5: fields are compressed with this level of gzip, 1 to 9; 0: they are not
};

// Writes a file as OutputFile::fill, or completes it and adds it to `how.with`.
void write_whole_file(const Communicator& communicator, const std::string& path, const Replacing& how,
                      const std::function<void(const std::string& temporary_path)>& work);

// Solutions, links and states are written by all ranks side by side; a report by rank 0.
enum class WrittenBy { all_ranks, rank_0 };

// Names that a job will write to, kept from all other jobs until this is gone. Collective.
class ClaimedNames {
 public:
  explicit ClaimedNames(const Communicator& communicator) : communicator_(communicator) {}

  // Throws Error now, before hours of solving, if another job writes to `path`, if it exists and not `force`, if it
  // could not be written, if another name of this job is the same file, or if the host of a rank that will write does
  // not see the folder of rank 0.
  void claim(const std::string& path, bool force, WrittenBy writers = WrittenBy::all_ranks);

 private:
  const Communicator& communicator_;
  std::vector<NameLock> locks_;  // of rank 0
};

// The same checks of what rank 0 writes, without keeping the name.
void check_writable(const Communicator& communicator, const std::string& path, bool force);

}  // namespace staghorn
