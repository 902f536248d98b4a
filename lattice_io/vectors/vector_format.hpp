// What each format of colour vectors supplies. Private to this folder.
//
// Headers are local: every rank parses the header itself. Reading and writing are collective. The checksums of reading
// are compared, and nothing is thrown for them.
#pragma once

#include "lattice_io/vectors/vector_stream.hpp"

namespace staghorn {

class Hdf5Catalogue;

constexpr std::int64_t reals_per_vector = 6;
static_assert(sizeof(ColorVector<double>) == reals_per_vector * sizeof(double));

// Throw Error where the file holds something else, or is not complete.
VectorHeader read_hdf5_vector_header(const std::string& path, const std::string& name, const Hdf5Catalogue& file);
VectorHeader read_scidac_vector_header(const std::string& path);
VectorHeader read_fnal_header(const std::string& path);
VectorHeader read_npy_vector_header(const std::string& path);

VectorContents read_hdf5_vectors(const Communicator& communicator, const VectorHeader& header, const Lattice& lattice);
VectorContents read_scidac_vectors(const Communicator& communicator, const VectorHeader& header,
                                   const Lattice& lattice);
VectorContents read_fnal_propagator(const Communicator& communicator, const VectorHeader& header,
                                    const Lattice& lattice);
VectorContents read_npy_vectors(const Communicator& communicator, const VectorHeader& header, const Lattice& lattice);

// Fill the empty file `path`. Collective.
void write_hdf5_vectors(const Communicator& communicator, const std::string& path, std::span<const VectorField> fields,
                        const NewVectorFile& file);
void write_scidac_vectors(const Communicator& communicator, const std::string& path,
                          std::span<const VectorField> fields, const NewVectorFile& file);
void write_npy_vectors(const Communicator& communicator, const std::string& path, std::span<const VectorField> fields,
                       const NewVectorFile& file);  // the numbers alone

// Three vectors, in fp32 and without a time, little-endian. Returns the checksums, the text of PATH.info.
std::string write_fnal_propagator(const Communicator& communicator, const std::string& path,
                                  std::span<const VectorField> fields);

constexpr std::uint32_t fnal_magic = 0x71626434;

}  // namespace staghorn
