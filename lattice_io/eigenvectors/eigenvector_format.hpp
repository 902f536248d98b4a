// What each format of eigenvectors supplies. Private to this folder. Headers are local; reading and writing are
// collective.
#pragma once

#include "lattice_io/eigenvectors/eigenvector_file.hpp"
#include "lattice_io/hdf5/catalogue.hpp"

namespace staghorn {

constexpr std::int64_t reals_per_eigenvector_site = 6;

// Whether the file has this format, by its content. Throws nothing.
bool holds_milc_eigenvectors(const std::string& path);
// Throws Error where the file is SciDAC, but damaged: nothing says then what it holds.
void require_readable_scidac(const std::string& path);

// Collective.
Hdf5Catalogue hdf5_eigenvector_catalogue(const Communicator& communicator, const std::string& path);
// Nothing where the file has no such dataset. Throws Error where it is damaged.
std::optional<EigenvectorHeader> find_hdf5_eigenvectors(const std::string& path, const Hdf5Catalogue& file);
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
