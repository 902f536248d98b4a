// How much memory a StaggeredOperator takes, known before it is made.
#pragma once

#include "dirac/operators/staggered_operator.hpp"

namespace staghorn {

struct OperatorBytes {  // of one rank
  double links = 0;     // StaggeredOperator::link_bytes
  double halo = 0;      // StaggeredOperator::halo_bytes
  double vector = 0;    // one ColorVectorField with all right-hand sides
  double solution = 0;  // one field as make_solution makes it
  double packing = 0;   // on the host, while links are packed
  double pieces = 0;    // on the host, pinned: at most what PinnedPieces takes
};

// Exact for GPUs and for virtual nodes; an upper bound where extents do not split among lanes. Nothing is made. For a
// GPU (options.cuda_device >= 0) no GPU needs to be there. Local.
OperatorBytes predict_operator_bytes(const Lattice& lattice, const OperatorOptions& options);

}  // namespace staghorn
