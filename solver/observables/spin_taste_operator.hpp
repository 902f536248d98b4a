// Spin-taste operators. For spin S and taste T, sets of directions, A = S xor T and x counted from the source, with Z_A
// and zeta of spin_taste_shifts.hpp,
//
//   O f = sign eps Z_A prod_(mu in S) zeta_mu f = sign' eps (prod_(mu in S) zeta_mu) Z_A f:
//
// a shift along d changes the sign of each zeta_mu except that of mu = d, so sign' = sign (-1)^(|A||S| + |A and S|).
// What is left of S is a sign at each site that depends on the parities of its coordinates.
#pragma once

#include "solver/observables/spin_taste_shifts.hpp"
#include "solver/request/mesons/meson_list.hpp"
#include "solver/request/sources.hpp"

namespace staghorn {

// sign' of an operator. Local.
int sign_of(const SpinTaste& spin_taste);
// eps prod_(mu in S) zeta_mu where the coordinates have these parities: bits 1, 2, 4, 8. Local.
int sign_at(int spin, int parities);
// Bits 1, 2, 4, 8: coordinates, counted from `origin`, that are odd. Local.
int parities_of(const Coordinates& x, const Coordinates& origin);

// cos(k x), i sin(k x) or exp(i k x), k = 2 pi p / n, for each local coordinate, with x counted from `origin`: of x, y
// and z. Local.
std::array<std::vector<Complex<double>>, 3> momentum_factors(const Lattice& lattice, const Coordinates& origin,
                                                             const SinkMomentum& momentum);

// O f for `f` in the phases of CPS. Where the operator shifts, links.thin must be there. Collective.
VectorField apply_spin_taste(const Communicator& communicator, const MeasuredLinks& links, const Coordinates& origin,
                             const SpinTaste& spin_taste, const VectorField& f);

// Applies one operator of a source to `f` in the phases of CPS: a sum of spin-taste operators, a momentum factor, zeros
// on other time slices, or smearing. Collective.
void apply_source_operator(const Communicator& communicator, const MeasuredLinks& links, const Coordinates& origin,
                           const SourceOperator& applied, VectorField& f);

}  // namespace staghorn
