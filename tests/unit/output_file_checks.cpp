// Files that appear only when they are complete, and writers that want the same name.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "halo/watch/error.hpp"
#include "lattice_io/files/output_file.hpp"
#include "lattice_io/files/posix_file.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

namespace fs = std::filesystem;

// A folder that is removed at the end.
struct Folder {
  fs::path path;
  Folder() {
    char name[] = "/tmp/staghorn-output-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~Folder() { fs::remove_all(path); }
  std::string file(const std::string& name) const { return (path / name).string(); }
  std::size_t files() const { return std::size_t(std::distance(fs::directory_iterator(path), {})); }
};

void put(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string failure_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool two_writers_of_one_file_do_not_share_a_temporary_name() {
  const Communicator communicator(MPI_COMM_SELF);
  const Folder folder;
  const std::string path = folder.file("output");
  std::string late;
  {
    OutputFile first(communicator, path, false), second(communicator, path, false);
    first.fill([](const std::string& temporary) { put(temporary, "first"); });
    late = failure_of([&] { second.fill([](const std::string& temporary) { put(temporary, "second"); }); });
  }
  return CHECK(late.find("exists already") != std::string::npos) && CHECK(content(path) == "first") &&
         CHECK(folder.files() == 1);
}

bool the_last_of_two_writers_that_may_replace_wins() {
  const Communicator communicator(MPI_COMM_SELF);
  const Folder folder;
  const std::string path = folder.file("output");
  {
    OutputFile first(communicator, path, true), second(communicator, path, true);
    second.fill([](const std::string& temporary) { put(temporary, "second"); });
    first.fill([](const std::string& temporary) { put(temporary, "first"); });
  }
  return CHECK(content(path) == "first") && CHECK(folder.files() == 1);
}

bool long_names_can_be_written() {
  const Communicator communicator(MPI_COMM_SELF);
  const Folder folder;
  const std::string path = folder.file(std::string(250, 'x'));
  const std::string failure = failure_of([&] {
    OutputFile(communicator, path, false).fill([](const std::string& temporary) { put(temporary, "text"); });
  });
  return CHECK(failure == "") && CHECK(content(path) == "text") && CHECK(folder.files() == 1);
}

bool a_new_file_has_the_mode_that_the_user_mask_allows() {
  const Communicator communicator(MPI_COMM_SELF);
  const Folder folder;
  const std::string path = folder.file("output");
  const mode_t before = ::umask(027);
  OutputFile(communicator, path, false).fill([](const std::string& temporary) { put(temporary, "text"); });
  ::umask(before);
  struct stat status;
  return CHECK(::stat(path.c_str(), &status) == 0) && CHECK((status.st_mode & 0777) == 0640);
}

}  // namespace

std::vector<UnitCheck> output_file_checks() {
  return {UNIT_CHECK(two_writers_of_one_file_do_not_share_a_temporary_name),
          UNIT_CHECK(the_last_of_two_writers_that_may_replace_wins), UNIT_CHECK(long_names_can_be_written),
          UNIT_CHECK(a_new_file_has_the_mode_that_the_user_mask_allows)};
}

}  // namespace staghorn
