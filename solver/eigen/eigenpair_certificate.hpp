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
  double largest_change = 0;    // of a value that was recomputed
};

// recomputed: each value becomes the Rayleigh quotient |D v|^2 / |v|^2 of its vector as it is stored, whatever was
// stated; residuals are those of the quotients. An eigenvalue lies within the residual of it, and its error is of
// second order. A quotient that rounding of the vector explains is 0: such a vector has no partner on the other parity.
enum class Eigenvalues { as_given, recomputed };

// Fills in pairs.residuals: |K v - lambda v| of each pair as it is stored, in fp64 by the plain path, with these
// uncompressed links, which lie on the host or where the blocks lie. Two plain hops a pair. `algebra` is for fields of
// the blocks' layout and memory space. Makes three plain fields where the links lie. Throws Error where numbers and
// vectors do not fit together. Collective; the same bits on every process grid and device.
EigenpairCertificate certify_eigenpairs(const Communicator& communicator, const OperatorLinks& links,
                                        const Boundary& boundary, const VectorAlgebra& algebra, Eigenpairs& pairs,
                                        Eigenvalues values = Eigenvalues::as_given);

// |K v - lambda v| that rounding vectors to a precision leaves at most, and |v^+ K v| that it leaves of K v = 0. Local.
double residual_of_rounding(Precision precision);
double eigenvalue_of_rounding(Precision precision);

// Brings the pairs into the order of their values, with every bit of their vectors. Makes two plain fields on the host
// where they are in another order. Collective.
void sort_by_value(const Communicator& communicator, Eigenpairs& pairs);

}  // namespace staghorn
