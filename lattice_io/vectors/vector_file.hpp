// Colour-vector files: HDF5, SciDAC, NumPy's arrays and FNAL's staggered propagators.
//
//   HDF5     datasets `/source` and `/solution`, complex of shape (n_rhs, T, Z, Y, X, 3)
//   SciDAC   QDP_F3_ColorVector or QDP_D3_ColorVector in LIME, n_rhs vectors a site; what MILC and QIO exchange
//   NumPy    an array (n_rhs, T, Z, Y, X, 3), without a checksum or a description
//   FNAL     three vectors a site in fp32, one for each colour of the source; checksums in PATH.info beside it
//
// The format is found from the content, never from the name. Vectors are exchanged as VectorFields (fp64, local sites).
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "dirac/algebra/precision.hpp"
#include "dirac/fields/site_field.hpp"
#include "halo/communicator.hpp"
#include "lattice_io/files/checksums.hpp"
#include "lattice_io/files/output_file.hpp"

namespace staghorn {

struct Hdf5Dataset;

enum class VectorFormat { hdf5, scidac, npy, fnal };
std::string to_string(VectorFormat format);
// Throws Error naming the formats.
VectorFormat parse_vector_output(const std::string& text);
// scidac for names that end in .scidac or .lime, npy for .npy, fnal for .fnal, hdf5 for others. Throws Error for
// endings that speak of another format, as x.json. Local.
VectorFormat vector_output_by_name(const std::string& path);

// The precision in which a format is written unless somebody asks for another: fp32 of FNAL's, which has no other.
Precision usual_precision(VectorFormat format);

// Throws Error naming `path` unless there are three. Local.
void require_vectors_of_a_propagator(const std::string& path, std::int64_t n_vectors);

// What the header says; no vector has been read yet.
struct VectorHeader {
  std::string path;
  VectorFormat format = VectorFormat::hdf5;
  std::string dataset;  // of HDF5: "source", "solution" or "checkpoint"
  Extents extents{};
  Precision precision = Precision::fp64;  // of the stored numbers
  bool big_endian = false;
  std::int64_t n_vectors = 0;
  std::map<std::string, std::string> fields;  // attributes, or XML and text records
  std::shared_ptr<const Hdf5Dataset> hdf5;    // what `dataset` is
};

struct VectorContents {
  std::vector<VectorField> fields;
  // For each part of the file that has checksums of its own: its name in messages, and what was compared.
  std::vector<std::pair<std::string, ChecksumResults>> checks;
};

// What `path` holds, or nothing if it is no file of colour vectors. Throws Error where it is one, but damaged.
// Collective.
std::optional<VectorHeader> find_vectors(const Communicator& communicator, const std::string& path);

// All vectors of the file, and its checksums beside those of what was read; none of them throws. Throws Error unless
// the extents are those of `lattice`. Collective.
VectorContents read_vector_contents(const Communicator& communicator, const VectorHeader& header,
                                    const Lattice& lattice);

// All vectors of the file; of HDF5 those of dataset `name` ("source" or "solution"), and if there is no /source, those
// of /solution in its place. Extents must be those of
// `lattice`. Where checksums are absent or wrong: throws Error, or, given `unverified`, adds a text for each to it.
// Collective.
std::vector<VectorField> read_vectors(const Communicator& communicator, const std::string& path,
                                      const std::string& name, const Lattice& lattice,
                                      std::vector<std::string>* unverified = nullptr);

// Writes all fields in fp64 or fp32: as dataset `name` of HDF5, as one field of SciDAC with fields.size() vectors a
// site, as an array of NumPy, or three of them as a propagator of FNAL with its PATH.info. `attributes` become
// attributes, or lines of the record's XML; the others have no room. A propagator and its PATH.info get their names
// together. Throws Error where a vector is not finite in that precision, or is zero and must not be: the solution of a
// solve that failed may be. Temporary name, then rename. The bytes do not depend on the process grid. Collective.
void write_vectors(const Communicator& communicator, const std::string& path, const std::string& name,
                   std::span<const VectorField> fields, Precision precision,
                   const std::map<std::string, std::string>& attributes, const Replacing& how,
                   VectorFormat format = VectorFormat::hdf5, bool may_be_zero = false);

}  // namespace staghorn
