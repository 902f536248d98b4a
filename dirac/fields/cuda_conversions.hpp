// Vectors and links on the GPU from one form into another: plain ones into those of the kernels and back, one precision
// into another, full links into compressed ones. All are queued on the default stream. A form of V lanes is
// SiteLayout's one block; plain sites are read and written wherever the device can reach them. Local. Throw Error
// where a launch fails, or where this build has no CUDA.
#pragma once

#include "dirac/algebra/precision.hpp"
#include "dirac/algebra/su3.hpp"

namespace staghorn {

// One right-hand side's vectors of slots first..first + count - 1, rounded, from plain ones in that order; and back.
void cuda_pack_vectors(Precision precision, void* to, int V, int first, int count, const ColorVector<double>* plain);
void cuda_unpack_vectors(Precision precision, const void* from, int V, int first, int count,
                         ColorVector<double>* plain);

// n_rhs right-hand sides in another precision.
void cuda_convert_vectors(Precision to_precision, void* to, Precision from_precision, const void* from, int V,
                          int n_rhs);

// Links in [direction][real][lane] of V lanes, `directions` of them a slot: from plain ones, [slot][direction], as
// above; and those of `count` slots from fp64 and 18 reals.
void cuda_pack_links(Precision precision, int reals, void* to, int V, int first, int count, int directions,
                     const ColorMatrix<double>* plain);
void cuda_convert_links(Precision precision, int reals, void* to, const void* from, int V, int count, int directions);

}  // namespace staghorn
