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
  const char* program = nullptr;  // that unpacks it
  const char* ending = nullptr;   // that the program asks for
  std::size_t at = 0;             // the byte where `start` begins
};

// First bytes by which files are known; of texts in lower case.
constexpr ForeignContent contents[] = {
    {"\x1f\x8b", "gzip's compressed data", "gunzip", ".gz"},
    {"BZh", "bzip2's compressed data", "bunzip2", ".bz2"},
    {"\xfd\x37zXZ", "xz's compressed data", "unxz", ".xz"},
    {"\x28\xb5\x2f\xfd", "zstd's compressed data", "unzstd", ".zst"},
    {"\x04\x22\x4d\x18", "lz4's compressed data", "unlz4", ".lz4"},
    {std::string_view("\x5d\0\0\x80", 4), "lzma's compressed data", "unlzma", ".lzma"},
    {"\x1f\x9d", "compressed data of `compress`", "uncompress", ".Z"},
    {"PK\x03\x04", "a zip archive, as NumPy's npz is", "unzip", ".zip"},
    {"PK\x05\x06", "a zip archive without files"},
    {"7z\xbc\xaf\x27\x1c", "an archive of 7-Zip", "7z x", ".7z"},
    {"Rar!", "a rar archive", "unrar x", ".rar"},
    {"ustar", "a tar archive", "tar xf", ".tar", 257},
    {"version https://git-lfs", "a pointer of Git LFS, not the file that it stands for; `git lfs pull` fetches that"},
    {"/annex/objects/", "a pointer of git-annex, not the file that it stands for; `git annex get` fetches that"},
    {"<!doctype", "a page of HTML, as servers send in place of a file"},
    {"<html", "a page of HTML, as servers send in place of a file"},
    {"<head", "a page of HTML, as servers send in place of a file"},
    {"<?xml", "text in XML"},
    {"{", "text in JSON"},
    {"\xef\xbb\xbf", "a UTF-8 byte order mark in front of the file, as editors write; `tail -c +4` leaves it out"},
    {"\xff\xfe", "text in UTF-16"},
    {"\xfe\xff", "text in UTF-16"},
    {"CDF\x01", "netCDF's classic format, which is not HDF5"},
    {"CDF\x02", "netCDF's classic format, which is not HDF5"},
    {"CDF\x05", "netCDF's classic format, which is not HDF5"},
    {"\x0e\x03\x13\x01", "HDF4, which is not HDF5"},
    {"matlab 5.0", "a file of MATLAB's format 5; save(..., '-v7.3') writes HDF5"},
    {"\x80\x02", "a pickle of Python"},
    {"\x80\x03", "a pickle of Python"},
    {"\x80\x04\x95", "a pickle of Python"},
    {"\x80\x05\x95", "a pickle of Python"},
    {"\xab\x89\x67\x45", "LIME records with their bytes in the wrong order"},
    {"%pdf", "a page in PDF"},
    {"\x89PNG", "a picture"},
    {"\x7f"
     "ELF",
     "a program"},
};

constexpr std::string_view lime_start("\x45\x67\x89\xab\0\1", 6);  // magic number and version

constexpr const char* endings[] = {".npz", ".json", ".txt", ".csv", ".gz",  ".bz2", ".xz",
                                   ".zst", ".zip",  ".tar", ".pkl", ".mat", ".pt"};

std::string in_lower_case(std::string text) {
  for (char& c : text) c = char(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

std::optional<std::int64_t> find_hdf5(const PosixFile& file) {
  const auto length = std::int64_t(hdf5_signature.size());
  for (std::int64_t at = 0; at + length <= file.size(); at = at == 0 ? 512 : 2 * at)
    if (file.read_text(at, length) == hdf5_signature) return at;
  return std::nullopt;
}

void refuse_foreign_content(const PosixFile& file, const std::string& expected) {
  const auto refuse = [&](const std::string& found) { throw FileError(file.path(), expected, found); };
  if (file.size() == 0) refuse("an empty file");
  constexpr std::int64_t longest_start = 512;
  const std::string start = file.read_text(0, std::min(file.size(), longest_start)), small = in_lower_case(start);
  if (find_hdf5(file)) return;
  for (const ForeignContent& content : contents) {
    const auto stands_in = [&](std::string_view text) {
      return text.size() > content.at && text.substr(content.at).starts_with(content.start);
    };
    if (!stands_in(start) && !stands_in(small)) continue;
    if (!content.program) refuse(content.what);
    refuse(std::string(content.what) + "; `" + content.program + " " +
           (ends_in(file.path(), content.ending) ? file.path() : std::string("FILE") + content.ending) +
           "` unpacks it");
  }
  if (start.find_first_not_of('\0') == std::string::npos)
    refuse("zero bytes at its start, as a download or a copy leaves that broke off");
}

std::string first_bytes(const PosixFile& file) {
  constexpr std::int64_t longest = 32, longest_search = 4096;
  const std::string begin = file.read_text(0, std::min(file.size(), longest_search));
  if (const auto at = begin.find(lime_start); at != std::string::npos && at > 0)
    return "LIME records from byte " + std::to_string(at) + " on, behind others; `tail -c +" + std::to_string(at + 1) +
           "` leaves those out";
  const std::string start = begin.substr(0, longest);
  const bool is_text = std::all_of(start.begin(), start.end(), [](unsigned char c) {
    return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\r' || c == '\t';
  });
  if (is_text) return "text that begins '" + start.substr(0, start.find_first_of("\r\n")) + "'";
  std::string digits;
  for (const char c : start.substr(0, 4)) {
    constexpr const char* of_16 = "0123456789abcdef";
    digits += {of_16[static_cast<unsigned char>(c) >> 4], of_16[static_cast<unsigned char>(c) & 15]};
  }
  return "unknown first bytes " + digits;
}

bool ends_in(const std::string& path, const std::string& ending) {
  if (path.size() <= ending.size()) return false;
  return in_lower_case(path.substr(path.size() - ending.size())) == in_lower_case(ending);
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
