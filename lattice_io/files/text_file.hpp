// Small text files (reports, options): read once for all ranks, written whole or not at all.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "halo/communicator.hpp"
#include "halo/watch/error.hpp"
#include "lattice_io/files/output_file.hpp"

namespace staghorn {

// The content of a file, read by rank 0 and handed to every rank. Collective. Throws Error naming the file and cause.
std::string read_text_file(const Communicator& communicator, const std::string& path);

// Writes `text` from rank 0 to a temporary name beside `path` and renames it when it is safely on disk. Refuses to
// replace a file unless `how.force`. Collective. Throws Error naming the file and cause; then nothing is left behind.
void write_text_file(const Communicator& communicator, const std::string& path, const std::string& text,
                     const Replacing& how);

// Writes a file and the report that speaks of it, which get their names together. `write_main` writes the file, or is
// empty; `text` makes the report, and is told why the file could not be written. The report then gets its name all the
// same, as it holds what was found, unless there is an older file at `main`, to which it does not belong. What is
// complete and does not get its name stays as unfinished_file(path). Collective. Throws the first Error.
void write_with_report(const Communicator& communicator, const std::optional<std::string>& main,
                       const std::function<void(const Replacing& how)>& write_main,
                       const std::optional<std::string>& report,
                       const std::function<std::string(const Error* failure)>& text, bool force);

}  // namespace staghorn
