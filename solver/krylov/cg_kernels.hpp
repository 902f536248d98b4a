// The forms of the loop of Conjugate Gradient on GPUs (README.md), and which of them is taken: one rule for the loop
// and for the machine model.
#pragma once

#include <cstdint>

#include "dirac/algebra/precision.hpp"

namespace staghorn {

// One kernel for many iterations, or two for each; the result never depends on it. Where one kernel cannot, two do.
// Wide: one, with as many threads as on large local lattices.
enum class CgKernels { automatic, one, wide, two };
CgKernels default_cg_kernels();  // STAGHORN_CG_KERNELS: auto (where not set), one, wide, two

// Whether one kernel is taken where the GPUs allow it: a single one, or several of one host by p2p.
bool takes_one_kernel(CgKernels asked, Precision precision, int n_rhs, std::int64_t local_volume);

// Whether it is a wide one then.
bool takes_wide_kernel(CgKernels asked, std::int64_t local_volume);

}  // namespace staghorn
