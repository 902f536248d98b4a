#include "solver/checkpoint/checkpoint_file.hpp"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <span>

#include "dirac/fields/plain_algebra.hpp"
#include "halo/watch/error.hpp"
#include "lattice_io/files/checksums.hpp"
#include "lattice_io/files/output_file.hpp"
#include "lattice_io/vectors/vector_stream.hpp"

namespace staghorn {

namespace {

constexpr const char* dataset = "checkpoint";
constexpr const char* version_name = "checkpoint_version";
constexpr const char* version = "2";                      // 1 had no version, and lists of numbers
constexpr std::size_t piece_length = 48000;               // of the text of the state; an attribute holds 60000 bytes
constexpr std::size_t most_text = std::size_t{60} << 20;  // readers take 64 MiB of attributes

std::string piece_name(std::size_t k) {
  char name[32];
  std::snprintf(name, sizeof name, "state_%06zu", k);
  return name;
}

constexpr const char* crc_name = "state_crc32";
std::string crc_of_text(const std::string& text) { return hexadecimal(crc_of(std::as_bytes(std::span(text)))); }

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

void Reached::visit(const Archive& archive) {
  archive("count", count);
  archive("counted", counted);
}

const VectorField& SharedFields::unpack(std::size_t k, VectorField& field) const {
  for (const Parity parity : {Parity::even, Parity::odd}) {
    clear_parity(field, parity);
    if (const auto& [vector, rhs] = vectors_[2 * k + std::size_t(parity)]; vector)
      vector->unpack_exactly(parity, rhs, field);
  }
  return field;
}

void SharedFields::pack(std::size_t k, const VectorField& field) const {
  for (const Parity parity : {Parity::even, Parity::odd})
    if (const auto& [vector, rhs] = vectors_[2 * k + std::size_t(parity)]; vector)
      vector->pack_exactly(parity, rhs, field);
}

std::string previous_checkpoint(const std::string& path) { return written_file(path).string() + ".1"; }

std::string checkpoint_of_group(const std::string& path, int number, int count) {
  if (count == 1) return path;
  return path + "." + std::to_string(number + 1) + "of" + std::to_string(count);
}

void require_same_groups(const Communicator& communicator, const std::string& path, int count) {
  namespace fs = std::filesystem;
  communicator.agree([&] {
    if (!communicator.is_root()) return;
    const fs::path whole(path), folder = whole.has_parent_path() ? whole.parent_path() : fs::path(".");
    const std::string stem = whole.filename().string();
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
      const std::string name = entry.path().filename().string();
      int number = 0, of = 1, length = 0;
      if (name != stem) {
        if (!name.starts_with(stem + ".")) continue;
        const std::string rest = name.substr(stem.size() + 1);
        if (std::sscanf(rest.c_str(), "%dof%d%n", &number, &of, &length) != 2 || std::size_t(length) != rest.size())
          continue;
      }
      if (of == count) continue;
      const auto groups = [](int n) { return n == 1 ? std::string("no groups") : std::to_string(n) + " groups"; };
      throw FileError("checkpoint " + (folder / name).string(), "that of a job in " + groups(count) + " (`split`)",
                      "one of " + groups(of));
    }
  });
}

void remove_checkpoints(const Communicator& communicator, const std::string& path) {
  if (communicator.is_root())
    for (const std::string& name : {written_file(path).string(), previous_checkpoint(path)}) ::unlink(name.c_str());
  communicator.barrier();
}

std::int64_t write_checkpoint(const Communicator& communicator, const std::string& path, const Lattice& lattice,
                              const CheckpointContents& contents,
                              const std::function<const VectorField&(std::int64_t)>& vector, bool keep_previous) {
  NewVectorFile file{dataset, Precision::fp64, contents.texts};
  const std::string text = contents.state.text();
  if (text.size() > most_text)
    throw FileError(path,
                    "at most " + std::to_string(most_text) + " bytes of state (histories of all right-hand sides)",
                    text.size());
  for (std::size_t k = 0; k * piece_length < text.size(); ++k)
    file.attributes[piece_name(k)] = text.substr(k * piece_length, piece_length);
  file.attributes[crc_name] = crc_of_text(text);
  file.attributes[version_name] = version;
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
  std::map<std::string, std::string> texts = header.fields;
  if (const std::string found = texts[version_name]; found != version)
    throw OtherCheckpointVersion(
        "checkpoint " + path + ": " + version_name, version,
        (found.empty() ? "1" : found) + ": finish the solve with the Staghorn that wrote it, or begin it anew");
  std::string text;
  for (std::size_t k = 0; texts.count(piece_name(k)); ++k) {
    text += texts[piece_name(k)];
    texts.erase(piece_name(k));
  }
  if (const std::string stored = texts[crc_name]; !same_hexadecimal(stored, crc_of_text(text)))
    throw FileError(path + ": state of the checkpoint", "crc32 " + crc_of_text(text), stored + " stored");
  for (const char* name : {version_name, crc_name}) texts.erase(name);
  CheckpointContents contents{std::move(texts), Archive("checkpoint " + path, text), header.n_vectors};
  contents.state("reached", contents.reached);
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
