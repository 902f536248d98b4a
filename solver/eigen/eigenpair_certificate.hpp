// Are these eigenpairs? Each is judged in double precision by the plain operator, all together by their Gram matrix.
// Whether pairs are missing is another question: the probe of completeness answers it.
#pragma once

#include "dirac/operators/vector_algebra.hpp"
#include "dirac/stencil/boundary.hpp"
#include "dirac/stencil/operator_links.hpp"
#include "halo/communicator.hpp"
#include "solver/eigen/eigenpairs.hpp"

namespace staghorn {

struct EigenpairCertificate {
  double largest_residual = 0;  // of |K v - lambda v|, over all pairs
  double orthogonality = 0;     // the largest |V^+ V - 1|, over all elements
};

// Fills in pairs.residuals: |K v - lambda v| of each pair as it is stored, in fp64 by the plain path, with these
// uncompressed links, which lie on the host or where the blocks lie. Two plain hops a pair. `algebra` is for fields of
// the blocks' layout and memory space. Makes three plain fields where the links lie. Throws Error where numbers and
// vectors do not fit together. Collective; the same bits on every process grid and device.
EigenpairCertificate certify_eigenpairs(const Communicator& communicator, const OperatorLinks& links,
                                        const Boundary& boundary, const VectorAlgebra& algebra, Eigenpairs& pairs);

}  // namespace staghorn
