// Plain vectors in the memory of a GPU (VectorField with MemorySpace::cuda): norms, zeros, and the way to the layout of
// the kernels and back. The host's functions of plain_algebra.hpp and ColorVectorField call these where a field lies
// there, and results have the same bits.
//
// `local`: the extents of the local lattice, lexicographic, x fastest; even, so that parities are those of the global
// lattice. All vectors are fp64. Local. Each function returns when its work is done. Throws Error where a launch fails,
// or where this build has no CUDA.
#pragma once

#include <cstdint>

#include "dirac/algebra/exact_sum.hpp"
#include "dirac/algebra/precision.hpp"
#include "dirac/algebra/su3.hpp"
#include "halo/lattice.hpp"

namespace staghorn {

// The largest |v(x)|^2 on even and on odd sites; passes over NaN.
void cuda_largest_norms2(const ColorVector<double>* v, const Extents& local, double (&largest)[2]);
// Adds |v(x)|^2 of even, of odd and of all sites to three exact sums, each on its grid.
void cuda_add_norms2(const ColorVector<double>* v, const Extents& local, const SumGrid (&grids)[3],
                     ExactPartial (&sums)[3]);

// The lowest site index whose vector is not zero, and not finite; the local volume where there is none. Both look at
// the sites of one parity only where `parity` is 0 or 1, and at all where it is -1.
std::int64_t cuda_first_not_zero(const ColorVector<double>* v, const Extents& local, int parity);
std::int64_t cuda_first_not_finite(const ColorVector<double>* v, const Extents& local, int parity);

// v = 0 on the sites of one parity.
void cuda_clear_parity(ColorVector<double>* v, const Extents& local, Parity parity);

// y(x) = y + s a, s a - y, (a - y) / s, or s a (site_combination.hpp) on the sites of `parity`, 0 or 1; -1: on all.
enum class SiteCombination { plus_multiple, multiple_minus, difference_over, multiple };
void cuda_combine(SiteCombination which, ColorVector<double>* y, const ColorVector<double>* a, double s,
                  const Extents& local, int parity);

// r(x) = norm_ratio(r(x), x(x)) at all sites.
void cuda_divide_norms(ColorVector<double>* r, const ColorVector<double>* x, const Extents& local);

// One right-hand side in the layout of the kernels, V lanes, on the sites of `parity`:
// pack: field = scale v, rounded.  unpack: v = field.  add: v += scale field, in double. Other sites stay.
void cuda_pack_plain(Precision precision, void* field, int V, const ColorVector<double>* v, const Extents& local,
                     Parity parity, double scale);
void cuda_unpack_plain(Precision precision, const void* field, int V, ColorVector<double>* v, const Extents& local,
                       Parity parity);
void cuda_add_plain(Precision precision, const void* field, int V, double scale, ColorVector<double>* v,
                    const Extents& local, Parity parity);

}  // namespace staghorn
