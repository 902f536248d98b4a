// Which format a file of colour vectors has, told by its first bytes, and what all formats share.
#include "lattice_io/vectors/vector_file.hpp"

#include <algorithm>

#include "halo/watch/error.hpp"
#include "lattice_io/files/byte_order.hpp"
#include "lattice_io/files/lime.hpp"
#include "lattice_io/files/output_file.hpp"
#include "lattice_io/files/scidac.hpp"
#include "lattice_io/hdf5/dataset.hpp"
#include "lattice_io/vectors/vector_format.hpp"

namespace staghorn {

namespace {

// The format that the first bytes speak of; HDF5 where they speak of none, so that its reader says what is wrong.
VectorFormat format_of(const std::string& path) {
  const PosixFile file = PosixFile::open_to_read(path);
  std::byte word[4] = {};
  if (file.size() >= 4) file.read(0, word);
  const auto big = load_word<std::uint32_t>(word, true), little = load_word<std::uint32_t>(word, false);
  if (big == lime_magic) return VectorFormat::scidac;
  return big == fnal_magic || little == fnal_magic ? VectorFormat::fnal : VectorFormat::hdf5;
}

VectorHeader read_header(const std::string& path, const std::string& name) {
  const VectorFormat format = format_of(path);
  if (format == VectorFormat::scidac) return read_scidac_vector_header(path);
  if (format == VectorFormat::fnal) return read_fnal_header(path);
  return read_hdf5_vector_header(path, name);
}

bool holds_dataset(const std::string& path, const std::string& name) {
  try {
    describe_hdf5_dataset(path, name);
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::optional<VectorHeader> find_header(const std::string& path) {
  const VectorFormat format = format_of(path);
  if (format == VectorFormat::fnal) return read_fnal_header(path);
  if (format == VectorFormat::scidac) {
    const ScidacFile scidac = read_scidac_file(PosixFile::open_to_read(path));
    if (scidac.fields.front().datatype.find("ColorVector") == std::string::npos) return std::nullopt;
    return read_scidac_vector_header(path);
  }
  for (const char* name : {"solution", "source"})
    if (holds_dataset(path, name)) return read_hdf5_vector_header(path, name);
  return std::nullopt;
}

bool ends_in(const std::string& path, const std::string& ending) {
  return path.size() > ending.size() && path.ends_with(ending);
}

}  // namespace

std::string to_string(VectorFormat format) {
  return format == VectorFormat::hdf5 ? "hdf5" : format == VectorFormat::scidac ? "scidac" : "fnal";
}

VectorFormat parse_vector_output(const std::string& text) {
  if (text == "hdf5") return VectorFormat::hdf5;
  if (text == "scidac") return VectorFormat::scidac;
  throw Error("output_format", "hdf5 or scidac", "'" + text + "'");
}

VectorFormat vector_output_by_name(const std::string& path) {
  return ends_in(path, ".scidac") || ends_in(path, ".lime") ? VectorFormat::scidac : VectorFormat::hdf5;
}

std::optional<VectorHeader> find_vectors(const Communicator& communicator, const std::string& path) {
  std::optional<VectorHeader> header;
  communicator.agree([&] { header = find_header(path); });
  return header;
}

VectorContents read_vector_contents(const Communicator& communicator, const VectorHeader& header,
                                    const Lattice& lattice) {
  if (header.extents != lattice.global())
    throw Error(header.path + (header.dataset.empty() ? "" : ": dataset " + header.dataset),
                "a lattice of " + to_string(lattice.global()), to_string(header.extents));
  if (header.format == VectorFormat::scidac) return read_scidac_vectors(communicator, header, lattice);
  if (header.format == VectorFormat::fnal) return read_fnal_propagator(communicator, header, lattice);
  return read_hdf5_vectors(communicator, header, lattice);
}

std::vector<VectorField> read_vectors(const Communicator& communicator, const std::string& path,
                                      const std::string& name, const Lattice& lattice,
                                      std::vector<std::string>* unverified) {
  VectorHeader header;
  communicator.agree([&] { header = read_header(path, name); });
  VectorContents contents = read_vector_contents(communicator, header, lattice);
  for (const auto& [where, results] : contents.checks) {
    if (!unverified) require_verified(where, results);
    if (!unverified) continue;
    for (const std::string& text : unverified_checksums(results)) unverified->push_back(where + ": " + text);
  }
  return std::move(contents.fields);
}

void write_vectors(const Communicator& communicator, const std::string& path, const std::string& name,
                   std::span<const VectorField> fields, Precision precision,
                   const std::map<std::string, std::string>& attributes, bool force, VectorFormat format) {
  if (fields.empty()) throw Error(path, "at least one colour vector to write", 0);
  const NewVectorFile file{name, precision, attributes};
  OutputFile output(communicator, path, force);
  output.fill([&](const std::string& temporary) {
    if (format == VectorFormat::scidac)
      write_scidac_vectors(communicator, temporary, fields, file);
    else
      write_hdf5_vectors(communicator, temporary, fields, file);
  });
}

}  // namespace staghorn
