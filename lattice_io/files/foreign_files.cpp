#include "lattice_io/files/foreign_files.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

struct ForeignContent {
  std::string_view start;
  const char* what;
  const char* program;  // that unpacks it
  const char* ending;   // that the program asks for
};

constexpr ForeignContent contents[] = {
    {"\x1f\x8b", "gzip's compressed data", "gunzip", ".gz"},
    {"BZh", "bzip2's compressed data", "bunzip2", ".bz2"},
    {"\xfd\x37zXZ", "xz's compressed data", "unxz", ".xz"},
    {"\x28\xb5\x2f\xfd", "zstd's compressed data", "unzstd", ".zst"},
    {"PK\x03\x04", "a zip archive, as NumPy's npz is", "unzip", ".zip"},
};

constexpr const char* endings[] = {".npz", ".json", ".txt", ".csv", ".gz",  ".bz2", ".xz",
                                   ".zst", ".zip",  ".tar", ".pkl", ".mat", ".pt"};

}  // namespace

void refuse_foreign_content(const PosixFile& file, const std::string& expected) {
  const std::string start = file.read_text(0, std::min<std::int64_t>(file.size(), 8));
  for (const ForeignContent& content : contents)
    if (start.starts_with(content.start))
      throw FileError(file.path(), expected,
                      std::string(content.what) + "; `" + content.program + " " +
                          (ends_in(file.path(), content.ending) ? file.path() : std::string("FILE") + content.ending) +
                          "` unpacks it");
}

bool ends_in(const std::string& path, const std::string& ending) {
  if (path.size() <= ending.size()) return false;
  std::string end = path.substr(path.size() - ending.size());
  for (char& c : end) c = char(std::tolower(static_cast<unsigned char>(c)));
  return end == ending;
}

void require_honest_name(const std::string& path, const std::string& options) {
  for (const std::string ending : endings)
    if (ends_in(path, ending))
      throw Error(path,
                  "a name that does not end in " + ending + ", as no such file is written (" + options +
                      " writes that format under any name)",
                  "'" + ending + "'");
}

}  // namespace staghorn
