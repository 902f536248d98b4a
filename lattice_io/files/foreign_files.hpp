// Files that are none of ours, called by what they are: compressed ones, NumPy's, and names that promise another format
// than the one written. Local.
#pragma once

#include <string>

namespace staghorn {

// What the first bytes of a file speak of, with what to do about it, or "" where they speak of no foreign format:
// "gzip's compressed data; gunzip unpacks it". `start` holds the first 8 bytes, or fewer.
std::string foreign_content(const std::string& start);

// Whether the name of a file ends so, in lower or upper case. The ending alone is no name.
bool ends_in(const std::string& path, const std::string& ending);

// Throws Error if the name speaks of a format that Staghorn does not write: x.npy, x.json, x.gz. `options` says how the
// format is chosen: "`format` hdf5".
void require_honest_name(const std::string& path, const std::string& options);

}  // namespace staghorn
