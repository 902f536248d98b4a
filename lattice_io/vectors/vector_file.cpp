// Which format a file of colour vectors has, told by its first bytes, and what all formats share.
#include "lattice_io/vectors/vector_file.hpp"

#include <algorithm>

#include "halo/watch/error.hpp"
#include "lattice_io/content/field_faults.hpp"
#include "lattice_io/files/byte_order.hpp"
#include "lattice_io/files/foreign_files.hpp"
#include "lattice_io/files/lime.hpp"
#include "lattice_io/files/npy.hpp"
#include "lattice_io/files/output_file.hpp"
#include "lattice_io/files/scidac.hpp"
#include "lattice_io/files/text_file.hpp"
#include "lattice_io/hdf5/catalogue.hpp"
#include "lattice_io/vectors/vector_format.hpp"

namespace staghorn {

namespace {

// The format that the first bytes speak of; HDF5 where they speak of none, so that its reader says what is wrong.
VectorFormat format_of(const std::string& path) {
  const PosixFile file = PosixFile::open_to_read(path);
  refuse_foreign_content(file, "colour vectors in HDF5, SciDAC, NumPy's or FNAL's format");
  const std::string start = file.read_text(0, std::min<std::int64_t>(file.size(), 8));
  if (start.starts_with(npy_magic)) return VectorFormat::npy;
  std::byte word[4] = {};
  if (file.size() >= 4) file.read(0, word);
  const auto big = load_word<std::uint32_t>(word, true), little = load_word<std::uint32_t>(word, false);
  if (big == lime_magic) return VectorFormat::scidac;
  return big == fnal_magic || little == fnal_magic ? VectorFormat::fnal : VectorFormat::hdf5;
}

// `name`: of HDF5.
VectorHeader read_header(const std::string& path, const std::string& name, const Hdf5Catalogue& file) {
  const VectorFormat format = format_of(path);
  if (format == VectorFormat::scidac) return read_scidac_vector_header(path);
  if (format == VectorFormat::fnal) return read_fnal_header(path);
  if (format == VectorFormat::npy) return read_npy_vector_header(path);
  return read_hdf5_vector_header(path, name, file);
}

std::optional<VectorHeader> find_header(const std::string& path, const Hdf5Catalogue& file) {
  const VectorFormat format = format_of(path);
  if (format == VectorFormat::fnal) return read_fnal_header(path);
  if (format == VectorFormat::npy) {  // seven dimensions are links
    if (read_npy_header(PosixFile::open_to_read(path)).shape.size() == 7) return std::nullopt;
    return read_npy_vector_header(path);
  }
  if (format == VectorFormat::scidac) {
    const ScidacFile scidac = read_scidac_file(PosixFile::open_to_read(path));
    if (scidac.fields.front().datatype.find("ColorVector") == std::string::npos) return std::nullopt;
    return read_scidac_vector_header(path);
  }
  if (file.contains("links")) return std::nullopt;
  for (const char* name : {"solution", "source", "checkpoint"})
    if (file.contains(name)) return read_hdf5_vector_header(path, name, file);
  return std::nullopt;
}

}  // namespace

std::string to_string(VectorFormat format) {
  return format == VectorFormat::hdf5     ? "hdf5"
         : format == VectorFormat::scidac ? "scidac"
         : format == VectorFormat::npy    ? "npy"
                                          : "fnal";
}

VectorFormat parse_vector_output(const std::string& text) {
  if (text == "hdf5") return VectorFormat::hdf5;
  if (text == "scidac") return VectorFormat::scidac;
  if (text == "npy") return VectorFormat::npy;
  if (text == "fnal") return VectorFormat::fnal;
  throw Error("output_format", "hdf5, scidac, npy or fnal", "'" + text + "'");
}

VectorFormat vector_output_by_name(const std::string& path) {
  if (ends_in(path, ".scidac") || ends_in(path, ".lime")) return VectorFormat::scidac;
  if (ends_in(path, ".npy")) return VectorFormat::npy;
  if (ends_in(path, ".fnal")) return VectorFormat::fnal;
  const std::string options = "`output_format` hdf5, scidac, npy or fnal";
  for (const char* of_links : {".milc", ".nersc", ".ildg", ".openqcd", ".kyu"})
    if (ends_in(path, of_links))
      throw Error(path, "a name for colour vectors, as .h5 or .scidac (" + options + " writes them under any name)",
                  std::string("'") + of_links + "', a format of links");
  require_honest_name(path, options);
  return VectorFormat::hdf5;
}

Precision usual_precision(VectorFormat format) {
  return format == VectorFormat::fnal ? Precision::fp32 : Precision::fp64;
}

void require_vectors_of_a_propagator(const std::string& path, std::int64_t n_vectors) {
  if (n_vectors != 3)
    throw Error(path + ": FNAL propagator", "3 vectors, one for each colour of the source", n_vectors);
}

std::optional<VectorHeader> find_vectors(const Communicator& communicator, const std::string& path) {
  std::optional<VectorHeader> header;
  const Hdf5Catalogue file = read_hdf5_catalogue(communicator, path, {"solution", "source", "checkpoint"});
  communicator.agree([&] { header = find_header(path, file); });
  return header;
}

VectorContents read_vector_contents(const Communicator& communicator, const VectorHeader& header,
                                    const Lattice& lattice) {
  if (header.extents != lattice.global())
    throw FileError(header.path + (header.dataset.empty() ? "" : ": dataset " + header.dataset),
                    "a lattice of " + to_string(lattice.global()), to_string(header.extents));
  if (header.format == VectorFormat::scidac) return read_scidac_vectors(communicator, header, lattice);
  if (header.format == VectorFormat::fnal) return read_fnal_propagator(communicator, header, lattice);
  if (header.format == VectorFormat::npy) return read_npy_vectors(communicator, header, lattice);
  return read_hdf5_vectors(communicator, header, lattice);
}

std::vector<VectorField> read_vectors(const Communicator& communicator, const std::string& path,
                                      const std::string& name, const Lattice& lattice,
                                      std::vector<std::string>* unverified) {
  VectorHeader header;
  const Hdf5Catalogue file = read_hdf5_catalogue(communicator, path, {name, "solution"});
  communicator.agree([&] { header = read_header(path, name, file); });
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
                   const std::map<std::string, std::string>& attributes, const Replacing& how, VectorFormat format,
                   bool may_be_zero) {
  if (fields.empty()) throw Error(path, "at least one colour vector to write", 0);
  const NewVectorFile file{name, precision, attributes, how.compress};
  if (how.compress > 0 && format != VectorFormat::hdf5)
    throw Error("`compress`", "a file of HDF5", "the format " + to_string(format));
  if (format == VectorFormat::fnal) require_vectors_of_a_propagator(path, std::int64_t(fields.size()));
  if (format == VectorFormat::fnal && precision != Precision::fp32)
    throw Error(path + ": FNAL propagator", "precision fp32 (it has no other)",
                to_string(precision) + "; `precision` fp32 rounds the vectors to it");
  if (const std::string fault = fault_of_vectors(communicator, fields, precision, may_be_zero); !fault.empty())
    throw Error(path,
                "vectors to write that are finite in " + to_string(precision) + (may_be_zero ? "" : " and not zero"),
                fault);
  FilesTogether pair(communicator);
  const Replacing together(how.force, how.with ? how.with : &pair);
  std::string info;
  write_whole_file(communicator, path, together, [&](const std::string& temporary) {
    if (format == VectorFormat::fnal)
      info = write_fnal_propagator(communicator, temporary, fields);
    else if (format == VectorFormat::scidac)
      write_scidac_vectors(communicator, temporary, fields, file);
    else if (format == VectorFormat::npy)
      write_npy_vectors(communicator, temporary, fields, file);
    else
      write_hdf5_vectors(communicator, temporary, fields, file);
  });
  if (format == VectorFormat::fnal) write_text_file(communicator, path + ".info", info, together);
  pair.publish();
}

}  // namespace staghorn
