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

// Files that belong together: the second one's name is taken meanwhile, and so neither gets its name.
bool files_get_their_names_together_or_not_at_all() {
  const Communicator communicator(MPI_COMM_SELF);
  const Folder folder;
  const std::string a = folder.file("a"), b = folder.file("b");
  put(a, "old a");
  const auto attempt = [&](bool b_is_free) {
    FilesTogether pair(communicator);
    write_whole_file(communicator, a, {true, &pair}, [](const std::string& temporary) { put(temporary, "new a"); });
    write_whole_file(communicator, b, {false, &pair}, [](const std::string& temporary) { put(temporary, "new b"); });
    if (!b_is_free) put(b, "of another");
    return failure_of([&] { pair.publish(); });
  };
  const std::string late = attempt(false), a_then = content(a), b_then = content(b);
  const std::size_t files = folder.files();
  fs::remove(b);
  const std::string free = attempt(true);
  return CHECK(late.find("b exists already") != std::string::npos) && CHECK(a_then == "old a") &&
         CHECK(b_then == "of another") && CHECK(files == 2) && CHECK(free == "") && CHECK(content(a) == "new a") &&
         CHECK(content(b) == "new b") && CHECK(folder.files() == 2);
}

// The second name cannot be given at the last moment: a folder has come to lie there.
bool the_first_of_two_gets_its_old_file_back() {
  const Communicator communicator(MPI_COMM_SELF);
  const Folder folder;
  const fs::path sub = folder.path / "sub";
  fs::create_directory(sub);
  const std::string a = folder.file("a"), b = (sub / "b").string();
  put(a, "old a");
  FilesTogether pair(communicator);
  write_whole_file(communicator, a, {true, &pair}, [](const std::string& temporary) { put(temporary, "new a"); });
  write_whole_file(communicator, b, {true, &pair}, [](const std::string& temporary) { put(temporary, "new b"); });
  fs::remove_all(sub);
  const std::string failure = failure_of([&] { pair.publish(); });
  const std::string a_then = content(a), words = pair.set_aside();
  return CHECK(failure.find("b: renaming") != std::string::npos) && CHECK(a_then == "old a") &&
         CHECK(content(a + ".unfinished") == "new a") && CHECK(words.find("a.unfinished") != std::string::npos);
}

bool a_link_that_dangles_is_written_through() {
  const Communicator communicator(MPI_COMM_SELF);
  const Folder folder;
  const std::string link = folder.file("link"), there = folder.file("scratch/file");
  fs::create_directory(folder.path / "scratch");
  fs::create_symlink("scratch/file", folder.file("second"));
  fs::create_symlink("second", link);
  for (const char* text : {"one", "two"})
    OutputFile(communicator, link, true).fill([&](const std::string& temporary) { put(temporary, text); });
  const bool is_link = fs::is_symlink(link) && fs::is_symlink(folder.file("second"));
  fs::create_symlink("loop", folder.file("loop"));
  fs::create_symlink("nowhere/file", folder.file("lost"));
  const std::string loop = failure_of([&] { check_writable(communicator, folder.file("loop"), true); }),
                    lost = failure_of([&] { check_writable(communicator, folder.file("lost"), true); });
  return CHECK(is_link) && CHECK(content(there) == "two") && CHECK(loop.find("leads back") != std::string::npos) &&
         CHECK(lost.find("nowhere/file', in a folder") != std::string::npos) && CHECK(folder.files() == 5);
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
          UNIT_CHECK(the_last_of_two_writers_that_may_replace_wins),
          UNIT_CHECK(long_names_can_be_written),
          UNIT_CHECK(files_get_their_names_together_or_not_at_all),
          UNIT_CHECK(the_first_of_two_gets_its_old_file_back),
          UNIT_CHECK(a_link_that_dangles_is_written_through),
          UNIT_CHECK(a_new_file_has_the_mode_that_the_user_mask_allows)};
}

}  // namespace staghorn
