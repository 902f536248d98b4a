// How much memory a search for eigenpairs needs, known before anything is allocated. Local throughout.
#pragma once

#include <map>
#include <string>

#include "dirac/operators/staggered_operator.hpp"
#include "halo/lattice.hpp"

namespace staghorn {

struct SearchMemory {
  // Bytes of one rank, where it computes:
  //   links        as the operator reads them; of a search in fp32 in fp64, too
  //   halo         face and ghost buffers, neighbour tables, for single vectors and for blocks
  //   basis        vectors at the peak: the basis, as many again while it is rotated, and four blocks
  //   certificate  on a GPU: links in fp64 and three plain fields, once the basis is gone; else 0
  //   eigenvectors the pairs, which stay beside the certificate
  std::map<std::string, double> objects;
  int vectors = 0;    // of the basis at the peak
  double vector = 0;  // bytes of one of them

  // At the peak: while the basis is there, or while the pairs are certified.
  double needed() const;
};

// For one rank of `lattice`, with the operator of these options. `improved`: there are Naik links.
SearchMemory estimate_search_memory(const Lattice& lattice, const OperatorOptions& options, bool improved, int pairs);

// The most pairs, up to those that a request may have, whose search fits into `bytes` of one rank; 0 for none.
int most_pairs_that_fit(const Lattice& lattice, const OperatorOptions& options, bool improved, double bytes);

}  // namespace staghorn
