// Shifts of spin-taste operators and sums of mesons on a GPU, on plain fields in its memory, with the bits of the host.
// spin_taste_shifts.hpp and meson_sums.hpp call this where fields lie there. Faces of other ranks travel through host
// memory. Collective. Throws Error where the kernels fail, or where this build has no CUDA.
#pragma once

#include "solver/observables/meson_sums.hpp"

namespace staghorn {

// sum(x) += weight zeta_mu(x) (1/2) [eta_mu(x) U_mu(x) f(x+mu) + eta_mu(x-mu) U_mu(x-mu)^dagger f(x-mu)], with zeta
// counted from `source`. All fields and links.thin lie on the GPU.
void cuda_add_shift(const Communicator& communicator, const MeasuredLinks& links, const Coordinates& source, int mu,
                    double weight, const VectorField& f, VectorField& sum);

struct FieldPair {
  const VectorField *a, *b;
};
// [pair][momentum]: the sums of w(x) a^dagger(x) b(x). All pairs lie on the lattice of the first.
std::vector<KindSums> cuda_kind_sums(const Communicator& communicator, const MesonTerms& terms,
                                     std::span<const FieldPair> pairs);

// Whether a rank of this lattice has few enough sites for cuda_kind_sums: 2^20 of a kind on a time slice. Local.
bool cuda_kind_sums_hold(const Lattice& lattice);

}  // namespace staghorn
