// Files that are none of ours, called by what they are: compressed ones, NumPy's, and names that promise another format
// than the one written. Local.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "lattice_io/files/posix_file.hpp"

namespace staghorn {

constexpr std::string_view hdf5_signature = "\x89HDF\r\n\x1a\n";

// Where HDF5 begins: at byte 0, or behind a block of the user at byte 512, 1024, 2048 ...; nothing where it does not.
std::optional<std::int64_t> find_hdf5(const PosixFile& file);

// Throws FileError if the first bytes are those of another kind of file that is known, as compressed data, an archive
// or a pointer to the file that was meant, with what to do about it: "x.gz: expected `expected`, found gzip's
// compressed data; `gunzip x.gz` unpacks it".
void refuse_foreign_content(const PosixFile& file, const std::string& expected);

// Of a file that no format knows: "text that begins 'hello'", "unknown first bytes 12345678".
std::string first_bytes(const PosixFile& file);

// Whether the name of a file ends so, in lower or upper case. The ending alone is no name.
bool ends_in(const std::string& path, const std::string& ending);

// Throws Error if the name speaks of a format that Staghorn does not write: x.npy, x.json, x.gz. `options` says how the
// format is chosen: "`format` hdf5".
void require_honest_name(const std::string& path, const std::string& options);

}  // namespace staghorn
