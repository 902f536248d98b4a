#include "lattice_io/files/text_file.hpp"

#include "lattice_io/files/output_file.hpp"
#include "lattice_io/files/posix_file.hpp"

namespace staghorn {

std::string read_text_file(const Communicator& communicator, const std::string& path) {
  std::string text;
  communicator.agree([&] {
    if (!communicator.is_root()) return;
    const PosixFile file = PosixFile::open_to_read(path);
    text = file.read_text(0, file.size());
  });
  return communicator.broadcast(text);
}

void write_text_file(const Communicator& communicator, const std::string& path, const std::string& text, bool force) {
  OutputFile output(communicator, path, force);
  output.fill([&](const std::string& temporary_path) {
    communicator.agree([&] {
      if (!communicator.is_root()) return;
      PosixFile file = PosixFile::open_to_write(temporary_path);
      file.write_text(0, text);
      file.flush_and_close();
    });
  });
}

}  // namespace staghorn
