// Files of a few lines. Local.
#pragma once

#include <optional>
#include <string>

namespace staghorn {

// The first 4096 bytes of a file; nothing, and errno, where it cannot be opened.
std::optional<std::string> small_file(const std::string& path);

}  // namespace staghorn
