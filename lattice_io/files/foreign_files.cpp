#include "lattice_io/files/foreign_files.hpp"

#include <cctype>
#include <string_view>

#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

struct ForeignContent {
  std::string_view start;
  const char* what;
};

constexpr ForeignContent contents[] = {
    {"\x1f\x8b", "gzip's compressed data; `gunzip FILE.gz` unpacks it"},
    {"BZh", "bzip2's compressed data; `bunzip2 FILE.bz2` unpacks it"},
    {"\xfd\x37zXZ", "xz's compressed data; `unxz FILE.xz` unpacks it"},
    {"\x28\xb5\x2f\xfd", "zstd's compressed data; `unzstd FILE.zst` unpacks it"},
    {"PK\x03\x04", "a zip archive; `unzip FILE.zip` unpacks it (NumPy's npz is one too)"},
};

constexpr const char* endings[] = {".npz", ".json", ".txt", ".csv", ".gz",  ".bz2", ".xz",
                                   ".zst", ".zip",  ".tar", ".pkl", ".mat", ".pt"};

}  // namespace

std::string foreign_content(const std::string& start) {
  for (const ForeignContent& content : contents)
    if (start.starts_with(content.start)) return content.what;
  return "";
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
