#include "lattice_io/names/small_file.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace staghorn {

std::optional<std::string> small_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  std::string text(4096, '\0');
  const ssize_t n = ::read(descriptor, text.data(), text.size());
  ::close(descriptor);
  text.resize(n > 0 ? std::size_t(n) : 0);
  return text;
}

}  // namespace staghorn
