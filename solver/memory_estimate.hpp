// How much memory a solve needs, by the formula that its fields follow.
#pragma once

#include <map>
#include <string>

#include "dirac/precision.hpp"
#include "halo/lattice.hpp"

namespace staghorn {

// Bytes per object for the whole lattice, halos and padding not counted; summed over ranks, as in SolveReport:
//   links               4 links of R reals a site
//   vectors             6 vectors on half the sites (x, b and the other parity's b; r, p, tmp of CG), n_rhs each
//   certificate_links   fp64, 18 reals, as read: 576 bytes a site
//   certificate_vectors three fp64 vectors that the residual is formed in: 144 bytes a site
//   sources_solutions   fp64 source and solution: 96 bytes a site and right-hand side
std::map<std::string, double> estimate_memory(const Extents& extents, Precision precision, Reconstruct reconstruct,
                                              int n_rhs);

double total_bytes(const std::map<std::string, double>& memory_bytes);

}  // namespace staghorn
