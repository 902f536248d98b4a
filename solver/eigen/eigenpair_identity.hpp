// What eigenpairs belong to, name by name: operator, boundary condition and links. A file of eigenpairs says it, and is
// refused where it is another.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "lattice_io/eigenvectors/eigenvector_file.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

using EigenpairIdentity = std::map<std::string, std::string>;

// What the options say: action with its parameters, boundary. The hashes of links come from who has the links:
//   links_hash        thin links as used, or stored fat ones (dirac/fields/site_hash.hpp)
//   long_links_hash   stored Naik links, and naik_scale their coefficient
// Local.
EigenpairIdentity identity_of_options(const SessionOptions& options);

// 16 hexadecimal digits.
std::string hash_text(std::uint64_t hash);

// Throws Error naming the file and what differs, unless it is for a lattice of these extents and says every entry of
// `expected`, which is of links that were projected onto SU(3) or not. A file of MILC says none of them; the
// certificate alone judges it. Local.
void require_belongs(const EigenvectorHeader& header, const Extents& extents, const EigenpairIdentity& expected,
                     bool projected = false);

}  // namespace staghorn
