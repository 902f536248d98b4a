// The plain operator on a GPU, on plain fields in its memory: the certificate where the vectors are. Kernels of
// three threads a site run the text of plain_site.hpp. plain_operator.hpp calls this where fields lie on a GPU.
//
// Results have the bits of the host's plain operator, on every process grid. Faces of other ranks travel through host
// memory. Collective. Throws Error where the kernels fail, or where this build has no CUDA.
#pragma once

#include <optional>

#include "dirac/fields/site_field.hpp"
#include "dirac/stencil/boundary.hpp"
#include "dirac/stencil/operator_links.hpp"
#include "halo/communicator.hpp"

namespace staghorn {

// out = D in, as plain_hop. All fields lie on the GPU.
void cuda_plain_hop(const Communicator& communicator, const OperatorLinks& links, const Boundary& boundary,
                    VectorField& out, const VectorField& in, std::optional<Parity> target);

// out = b - alpha x - beta D in on the sites of `target`, or on all. `out` may be `in` where a target is given.
void cuda_plain_subtract_hop(const Communicator& communicator, const OperatorLinks& links, const Boundary& boundary,
                             VectorField& out, const VectorField& in, std::optional<Parity> target,
                             const VectorField& b, double alpha, const VectorField& x, double beta);

// v = -v at the sites where milc_phase_sign is -1. Local.
void cuda_apply_milc_signs(VectorField& v);

}  // namespace staghorn
