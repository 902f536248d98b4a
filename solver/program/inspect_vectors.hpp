// `staghorn inspect` of colour vectors, checkpoints among them, and of eigenvectors: what is in the file, and whether
// it is intact.
#pragma once

#include <iosfwd>
#include <map>
#include <string>

#include "lattice_io/eigenvectors/eigenvector_file.hpp"
#include "lattice_io/vectors/vector_file.hpp"

namespace staghorn {

// Reads the file that `header` describes and prints, as text or JSON, its header, the norm of every vector and its
// checksums. Throws Error where they do not match, unless `no_verify`. Collective.
void inspect_vectors(const Communicator& communicator, const VectorHeader& header, bool as_json, bool no_verify,
                     std::ostream& out);

// The same with values of eigenpairs, and how far vectors are from the norm 1.
void inspect_eigenvectors(const Communicator& communicator, const EigenvectorHeader& header, bool as_json,
                          bool no_verify, std::ostream& out);

// A line for each checksum: its name, whether it matches, stored and computed value.
void print_checks(std::ostream& out, const ChecksumResults& checks);
// A line for each entry of a header.
void print_fields(std::ostream& out, const std::map<std::string, std::string>& fields);

}  // namespace staghorn
