// Small text files (reports, options): read once for all ranks, written whole or not at all.
#pragma once

#include <string>

#include "halo/communicator.hpp"

namespace staghorn {

// The content of a file, read by rank 0 and handed to every rank. Collective. Throws Error naming the file and cause.
std::string read_text_file(const Communicator& communicator, const std::string& path);

// Writes `text` from rank 0 to a temporary name beside `path` and renames it when it is safely on disk. Refuses to
// replace a file unless `force`. Collective. Throws Error naming the file and cause; then nothing is left behind.
void write_text_file(const Communicator& communicator, const std::string& path, const std::string& text, bool force);

}  // namespace staghorn
