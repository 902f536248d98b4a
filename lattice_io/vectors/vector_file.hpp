// Colour-vector files in HDF5: `/source` and `/solution`, complex of shape (n_rhs, T, Z, Y, X, 3), with checksum and
// provenance as attributes. (SciDAC colour vectors can be read too.)
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "dirac/algebra/precision.hpp"
#include "dirac/fields/site_field.hpp"
#include "halo/communicator.hpp"

namespace staghorn {

// Reads dataset `name` ("source" or "solution", fp32 or fp64) whose extents must be those of `lattice`, and verifies
// its checksums. Returns n_rhs fields. A SciDAC colour-vector file gives all that it holds. Where checksums are absent
// or wrong: throws Error, or, given `unverified`, adds a text for each to it. Collective.
std::vector<VectorField> read_vectors(const Communicator& communicator, const std::string& path,
                                      const std::string& name, const Lattice& lattice,
                                      std::vector<std::string>* unverified = nullptr);

// Writes all fields as dataset `name` in fp64 or fp32, with attributes; temporary name, then rename. The bytes of the
// dataset do not depend on the process grid. Collective.
void write_vectors(const Communicator& communicator, const std::string& path, const std::string& name,
                   std::span<const VectorField> fields, Precision precision,
                   const std::map<std::string, std::string>& attributes, bool force);

}  // namespace staghorn
