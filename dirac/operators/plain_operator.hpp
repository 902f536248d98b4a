// The staggered operator written straight from its equations: readable, the judge of every fast path.
//
// It works on plain fields of the whole local lattice, in double precision with uncompressed links. It shares nothing
// with the kernels but the arithmetic of dirac/algebra/su3.hpp. It allocates two faces for each direction that is cut,
// with links of three steps eight, and nothing else. Results have the same bits on every process grid and number of
// threads. Everything here is collective.
//
// All fields of a call lie on the host, or all on one GPU. There a second text computes (plain_site.hpp), with the same
// bits.
//
// D a(x) = sum_mu eta_mu(x) [ U_mu(x) a(x+mu) - U_mu(x-mu)^dagger a(x-mu) ]   [Kim & Lee, Lattice 2010]
//
// Improved quarks have fat links F in place of U, and after the two terms of each mu two more of three steps:
//   eta_mu(x) c_N [ N_mu(x) a(x+3mu) - N_mu(x-3mu)^dagger a(x-3mu) ]   [Naik, Nucl. Phys. B 316 (1989) 238]
#pragma once

#include <optional>

#include "dirac/fields/site_field.hpp"
#include "dirac/stencil/boundary.hpp"
#include "dirac/stencil/operator_links.hpp"
#include "halo/communicator.hpp"

namespace staghorn {

// out = D in on the sites of `target`, or on all sites without a target; other sites of `out` are left alone. `out` and
// `in` live on the lattice of `links`. No phases are folded into the links. With a target, `out` and `in` may be one
// field, for D then reads the sites of the other parity only. Terms are added in the order mu = x, y, z, t, forward
// before backward.
void plain_hop(const Communicator& communicator, const OperatorLinks& links, const Boundary& boundary, VectorField& out,
               const VectorField& in, std::optional<Parity> target = std::nullopt);

// The term of one leg alone: their sum in the order of legs is D in. On the host, with a target; other sites of `out`
// are left alone.
void plain_leg(const Communicator& communicator, const OperatorLinks& links, const Boundary& boundary, VectorField& out,
               const VectorField& in, Parity target, const Leg& leg);

// How well a system is solved. Both functions write the residual to r, which is another field than x and b, and return
// its squared norm. A certificate states sqrt(|r|^2 / |b|^2).

// The full system M x = b, M = 2m + D: r = b - M x.
double full_residual(const Communicator& communicator, const OperatorLinks& links, const Boundary& boundary,
                     double mass, const VectorField& x, const VectorField& b, VectorField& r);

// The parity system A x = b, A = 4m^2 - D^2 on the sites of `parity`: r = b - A x there. The other sites of x and b are
// not read; those of r receive D x.
double parity_residual(const Communicator& communicator, const OperatorLinks& links, const Boundary& boundary,
                       double mass, Parity parity, const VectorField& x, const VectorField& b, VectorField& r);

// x -> S x, S = (-1)^(t(x+y+z)): from MILC's phases to those of CPS and back. Local.
void apply_milc_signs(VectorField& x);

// exp(i pi theta): exactly +1, -1, +i, -i where theta is a multiple of 1/2. Local.
Complex<double> boundary_phase(double theta);

}  // namespace staghorn
