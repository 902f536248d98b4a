// How much memory a StaggeredOperator takes, known before it is made.
#pragma once

#include "dirac/operators/staggered_operator.hpp"

namespace staghorn {

struct OperatorBytes {  // of one rank
  double links = 0;     // StaggeredOperator::link_bytes
  double halo = 0;      // StaggeredOperator::halo_bytes
  double vector = 0;    // of one ColorVectorField with all right-hand sides
  double solution = 0;  // the same, as make_solution gives it
  double packing = 0;   // on the host, while links are brought into shape
  double pieces = 0;    // on the host, pinned: at most what PinnedPieces takes
};

// Exact for GPUs and for virtual nodes; where extents do not split among lanes, an upper bound. Makes nothing; for a
// GPU (options.cuda_device >= 0) none needs to be there. Local.
OperatorBytes predict_operator_bytes(const Lattice& lattice, const OperatorOptions& options);

}  // namespace staghorn
