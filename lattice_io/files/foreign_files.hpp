// Files that are none of ours, called by what they are: compressed ones, NumPy's, and names that promise another format
// than the one written. Local.
#pragma once

#include <string>

#include "lattice_io/files/posix_file.hpp"

namespace staghorn {

// Throws FileError if the first bytes are those of a compressed file or an archive, with what to do about it:
// "x.gz: expected `expected`, found gzip's compressed data; `gunzip x.gz` unpacks it".
void refuse_foreign_content(const PosixFile& file, const std::string& expected);

// Whether the name of a file ends so, in lower or upper case. The ending alone is no name.
bool ends_in(const std::string& path, const std::string& ending);

// Throws Error if the name speaks of a format that Staghorn does not write: x.npy, x.json, x.gz. `options` says how the
// format is chosen: "`format` hdf5".
void require_honest_name(const std::string& path, const std::string& options);

}  // namespace staghorn
