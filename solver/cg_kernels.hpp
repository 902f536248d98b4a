// The two forms of the loop of Conjugate Gradient on GPUs (README.md), and which of them is taken: one rule for the
// loop and for the machine model.
#pragma once

#include <cstdint>

#include "dirac/precision.hpp"

namespace staghorn {

// One kernel for many iterations, or two for each; the result never depends on it. Where one kernel cannot, two do.
enum class CgKernels { automatic, one, two };
CgKernels default_cg_kernels();  // STAGHORN_CG_KERNELS: auto (where not set), one, two

// Whether one kernel is taken where the GPUs allow it: a single one, or several of one host by p2p.
bool takes_one_kernel(CgKernels asked, Precision precision, Reconstruct links, int n_rhs, int n_ranks,
                      std::int64_t local_volume);

}  // namespace staghorn
