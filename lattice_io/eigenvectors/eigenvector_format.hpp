// What each format of eigenvectors supplies. Private to this folder. Headers are local; reading and writing are
// collective.
#pragma once

#include "lattice_io/eigenvectors/eigenvector_file.hpp"

namespace staghorn {

constexpr std::int64_t reals_per_eigenvector_site = 6;

// Whether the file has this format, by its content. Throw nothing.
bool holds_hdf5_eigenvectors(const std::string& path);
bool holds_milc_eigenvectors(const std::string& path);
// Throw Error where the file is HDF5 or SciDAC, but damaged: nothing says then what it holds. Also where it cannot be
// opened.
void require_readable_hdf5(const std::string& path);
void require_readable_scidac(const std::string& path);

EigenvectorHeader read_hdf5_eigenvector_header(const std::string& path);
EigenvectorHeader read_milc_eigenvector_header(const std::string& path);

using BeginVector = std::function<VectorField&(std::int64_t)>;
using EndVector = std::function<void(std::int64_t)>;
using NextVector = std::function<const VectorField&(std::int64_t)>;

void read_hdf5_eigenvectors(const Communicator& communicator, const EigenvectorHeader& header, const Lattice& lattice,
                            bool no_verify, const BeginVector& begin, const EndVector& end);
void read_milc_eigenvectors(const Communicator& communicator, const EigenvectorHeader& header, const Lattice& lattice,
                            bool no_verify, const BeginVector& begin, const EndVector& end);

// Fill the empty file `path`.
void fill_hdf5_eigenvectors(const Communicator& communicator, const std::string& path, const Lattice& lattice,
                            const NewEigenvectorFile& described, const NextVector& vector);
void fill_milc_eigenvectors(const Communicator& communicator, const std::string& path, const Lattice& lattice,
                            const NewEigenvectorFile& described, const NextVector& vector);

// Throws Error, naming `path`, unless all values are finite, not negative and ascend.
void require_ascending(const std::string& path, const std::vector<double>& values);

}  // namespace staghorn
