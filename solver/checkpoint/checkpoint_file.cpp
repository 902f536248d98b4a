#include "solver/checkpoint/checkpoint_file.hpp"

#include <unistd.h>

#include <bit>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <span>

#include "halo/watch/error.hpp"
#include "lattice_io/files/checksums.hpp"
#include "lattice_io/files/output_file.hpp"
#include "lattice_io/vectors/vector_stream.hpp"

namespace staghorn {

namespace {

constexpr const char* dataset = "checkpoint";
constexpr std::size_t piece_length = 48000;               // of the text of numbers; an attribute holds 60000 bytes
constexpr std::size_t most_text = std::size_t{60} << 20;  // readers take 64 MiB of attributes

std::string piece_name(std::size_t k) {
  char name[32];
  std::snprintf(name, sizeof name, "numbers_%06zu", k);
  return name;
}

constexpr const char* crc_name = "numbers_crc32";
std::string crc_of_text(const std::string& text) { return hexadecimal(crc_of(std::as_bytes(std::span(text)))); }

// "NAME LENGTH HEX HEX ... " for each list, the bits of a double as 16 hexadecimal digits.
std::string text_of(const SearchNumbers& numbers) {
  std::string text;
  for (const auto& [name, list] : numbers) {
    text += name + " " + std::to_string(list.size()) + " ";
    for (const double number : list) {
      char digits[24];
      std::snprintf(digits, sizeof digits, "%016llx ",
                    static_cast<unsigned long long>(std::bit_cast<std::uint64_t>(number)));
      text += digits;
    }
  }
  return text;
}

SearchNumbers numbers_of(const std::string& path, const std::string& text) {
  SearchNumbers numbers;
  std::size_t at = 0;
  const auto word = [&] {
    const std::size_t end = text.find(' ', at);
    if (end == std::string::npos) throw FileError(path + ": numbers of the checkpoint", "a word", "their end");
    const std::string found = text.substr(at, end - at);
    at = end + 1;
    return found;
  };
  const auto integer = [&](int base) {
    const std::string digits = word();
    std::uint64_t value = 0;
    const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    if (code != std::errc() || end != digits.data() + digits.size())
      throw FileError(path + ": numbers of the checkpoint", "a number", "'" + digits.substr(0, 40) + "'");
    return value;
  };
  while (at < text.size()) {
    const std::string name = word();
    const std::uint64_t length = integer(10);
    if (length > text.size()) throw FileError(path + ": numbers of the checkpoint", "a length of a list", length);
    std::vector<double>& list = numbers[name];
    for (std::uint64_t k = 0; k < length; ++k) list.push_back(std::bit_cast<double>(integer(16)));
  }
  return numbers;
}

// The file at `path` becomes the previous one in two steps, with that of the new one to its name between them. So
// whenever the job is killed, the two names are of two files. Local.
std::string passing_name(const std::string& path) { return previous_checkpoint(path) + ".new"; }

void begin_keeping(const std::string& name) {  // it gets a second name
  const std::string path = written_file(name).string();
  namespace fs = std::filesystem;
  std::error_code error;
  ::unlink(passing_name(path).c_str());  // of a job that was killed
  if (!fs::exists(path, error)) return;
  if (::link(path.c_str(), passing_name(path).c_str()) != 0)  // no hard links on this file system
    fs::rename(path, previous_checkpoint(path), error);
}

void end_keeping(const std::string& path) {
  std::error_code error;
  std::filesystem::rename(passing_name(path), previous_checkpoint(path), error);  // there is none beside a first state
}

}  // namespace

std::string previous_checkpoint(const std::string& path) { return written_file(path).string() + ".1"; }

std::int64_t write_checkpoint(const Communicator& communicator, const std::string& path, const Lattice& lattice,
                              const CheckpointContents& contents,
                              const std::function<const VectorField&(std::int64_t)>& vector, bool keep_previous) {
  NewVectorFile file{dataset, Precision::fp64, contents.texts};
  const std::string text = text_of(contents.numbers);
  if (text.size() > most_text)
    throw FileError(path,
                    "at most " + std::to_string(most_text) + " bytes of numbers (histories of all right-hand sides)",
                    text.size());
  for (std::size_t k = 0; k * piece_length < text.size(); ++k)
    file.attributes[piece_name(k)] = text.substr(k * piece_length, piece_length);
  file.attributes[crc_name] = crc_of_text(text);
  OutputFile output(communicator, path, true);
  output.fill([&](const std::string& temporary) {
    fill_with_vectors(communicator, temporary, lattice, contents.n_vectors, file, vector);
    communicator.agree([&] {
      if (keep_previous && communicator.is_root()) begin_keeping(path);
    });
  });
  if (keep_previous && communicator.is_root()) end_keeping(path);
  return contents.n_vectors * lattice.global_volume() * std::int64_t(sizeof(ColorVector<double>)) +
         std::int64_t(text.size());
}

CheckpointContents read_checkpoint(const Communicator& communicator, const std::string& path) {
  const VectorHeader header = read_stream_header(communicator, path, dataset);
  CheckpointContents contents{header.fields, {}, header.n_vectors};
  std::string text;
  for (std::size_t k = 0; contents.texts.count(piece_name(k)); ++k) {
    text += contents.texts[piece_name(k)];
    contents.texts.erase(piece_name(k));
  }
  // States of earlier versions have none.
  if (const auto stored = contents.texts.extract(crc_name);
      stored && !same_hexadecimal(stored.mapped(), crc_of_text(text)))
    throw FileError(path + ": numbers of the checkpoint", "crc32 " + crc_of_text(text), stored.mapped() + " stored");
  contents.numbers = numbers_of(path, text);
  return contents;
}

void read_checkpoint_vectors(const Communicator& communicator, const std::string& path, VectorField& space,
                             const std::function<void(std::int64_t)>& take) {
  const VectorHeader header = read_stream_header(communicator, path, dataset);
  const ChecksumResults results = read_each_vector(
      communicator, header, space.lattice(), [&](std::int64_t) -> VectorField& { return space; }, take);
  for (const std::string& wrong : unverified_checksums(results))
    throw FileError(path + ": vectors of the checkpoint: " + wrong);
}

}  // namespace staghorn
