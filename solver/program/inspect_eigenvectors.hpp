// `staghorn inspect` of eigenvectors: what is in the file, and whether it is intact.
#pragma once

#include <iosfwd>

#include "lattice_io/eigenvectors/eigenvector_file.hpp"

namespace staghorn {

// Reads the file that `header` describes and prints, as text or JSON, its header, its values and how far its vectors
// are from the norm 1. Throws Error where checksums do not match, unless `no_verify`. Collective.
void inspect_eigenvectors(const Communicator& communicator, const EigenvectorHeader& header, bool as_json,
                          bool no_verify, std::ostream& out);

}  // namespace staghorn
