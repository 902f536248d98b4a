// The shifts of spin-taste operators. With x counted from the source and zeta_mu(x) = (-1)^(x_mu) (-1)^(x+y+z+t),
//
//   Z_A f = average over the orders of the directions of A, with the sign of the order, of products of
//           zeta_mu(x) (1/2) [eta_mu(x) U_mu(x) f(x+mu) + eta_mu(x-mu) U_mu(x-mu)^dagger f(x-mu)]
//
// [Golterman & Smit, Nucl. Phys. B 245 (1984) 61; Golterman, Nucl. Phys. B 273 (1986) 663], the signs those of MILC.
// The last shift of an order is each direction of A in turn, so with signs s = +-1
//
//   Z_A f = (1 / |A|) sum over d in A of s(A, d) shift_d Z_(A without d) f:      32 shifts for all sixteen sets.
#pragma once

#include <map>
#include <span>

#include "dirac/fields/site_field.hpp"
#include "solver/observables/observable_table.hpp"

namespace staghorn {

// Z_A f for each set A of `sets` (bits 1, 2, 4, 8 for x, y, z, t), and for the smaller sets that these are made from.
// `f` is in the phases of CPS and stays where it is: Z of the empty set is f itself and is not among them. `f` and
// links.thin lie on the host, or both on a GPU, where these then lie too. Collective.
std::map<int, VectorField> spin_taste_shifts(const Communicator& communicator, const MeasuredLinks& links,
                                             const Coordinates& source, const VectorField& f,
                                             std::span<const int> sets);

// How many these are. Local.
int n_spin_taste_shifts(std::span<const int> sets);

}  // namespace staghorn
