// Vectors and links on the GPU, converted from one form into another: from plain fields to the form of the kernels and
// back, from one precision to another, from full links to compressed ones.
//
// A form of V lanes is SiteLayout's one block. Plain sites may lie wherever the device can reach them. All work is
// queued on the default stream. Local. Throws Error where a launch fails, or where this build has no CUDA.
#pragma once

#include <cstdint>

#include "dirac/algebra/precision.hpp"
#include "dirac/fields/site_field.hpp"

namespace staghorn {

// Writes the vectors of one right-hand side, slots first..first + count - 1, rounded, from plain vectors in that order;
// and back.
void cuda_pack_vectors(Precision precision, void* to, int V, int first, int count, const ColorVector<double>* plain);
void cuda_unpack_vectors(Precision precision, const void* from, int V, int first, int count,
                         ColorVector<double>* plain);

// Writes n_rhs right-hand sides in another precision.
void cuda_convert_vectors(Precision to_precision, void* to, Precision from_precision, const void* from, int V,
                          int n_rhs);

// Writes links [direction][real][lane] of V lanes, `directions` of them for each slot. cuda_pack_links takes plain
// links, [slot][direction], of slots first..first + count - 1; cuda_pack_link_field takes the links of one parity of a
// field on the GPU, and multiplies them by `factor`; cuda_convert_links takes `count` slots of links in fp64
// with 18 reals, and multiplies them by `factor`. If `misfit` is not null and a link has no stored form (store_link),
// *misfit becomes at least ~(4 slot + direction): the first such link wins, 0 stays if there is none.
void cuda_pack_links(Precision precision, Reconstruct reconstruct, void* to, int V, int first, int count,
                     int directions, const ColorMatrix<double>* plain, std::uint64_t* misfit);
void cuda_pack_link_field(Precision precision, Reconstruct reconstruct, void* to, int V, Parity parity,
                          const LinkField& links, double factor, std::uint64_t* misfit);
void cuda_convert_links(Precision precision, Reconstruct reconstruct, void* to, const void* from, int V, int count,
                        int directions, double factor, std::uint64_t* misfit);

}  // namespace staghorn
