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

void write_text_file(const Communicator& communicator, const std::string& path, const std::string& text,
                     const Replacing& how) {
  write_whole_file(communicator, path, how, [&](const std::string& temporary_path) {
    communicator.agree([&] {
      if (!communicator.is_root()) return;
      PosixFile file = PosixFile::open_to_write(temporary_path);
      file.write_text(0, text);
      file.flush_and_close();
    });
  });
}

void write_with_report(const Communicator& communicator, const std::optional<std::string>& main,
                       const std::function<void(const Replacing& how)>& write_main,
                       const std::optional<std::string>& report,
                       const std::function<std::string(const Error* failure)>& text, bool force) {
  FilesTogether files(communicator);
  std::optional<Error> failure;
  const auto attempt = [&](const auto& work) {
    try {
      work();
    } catch (const LocalError&) {
      throw;
    } catch (const Error& error) {
      if (!failure) failure = error;
      return false;
    }
    return true;
  };
  const bool has_main = !main || attempt([&] { write_main({force, &files}); });
  const std::string words = text(failure ? &*failure : nullptr);
  const bool has_report = !report || attempt([&] { write_text_file(communicator, *report, words, {force, &files}); });
  const bool belongs = has_main || !file_exists(communicator, written_file(*main));
  const bool published = has_report && belongs && attempt([&] { files.publish(); });
  const std::string kept = published ? "" : files.set_aside();
  if (failure) throw Error(failure->kind(), failure->what() + kept);
}

}  // namespace staghorn
