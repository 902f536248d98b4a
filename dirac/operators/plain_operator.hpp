// The staggered operator written straight from its equations: readable, the judge of every fast path.
//
// Works on plain fields of the whole local lattice, in double precision with uncompressed links, and shares nothing
// with the kernels but the arithmetic of dirac/algebra/su3.hpp. Two faces for each direction that is cut are all it
// allocates. Results have the same bits on every process grid and number of threads. Everything here is collective.
//
// D a(x) = sum_mu eta_mu(x) [ U_mu(x) a(x+mu) - U_mu(x-mu)^dagger a(x-mu) ]   [Kim & Lee, Lattice 2010]
#pragma once

#include <optional>

#include "dirac/fields/site_field.hpp"
#include "dirac/stencil/boundary.hpp"
#include "halo/communicator.hpp"

namespace staghorn {

// out = D in on the sites of `target` (all if none; the others of out are left alone). `out` and `in` are fields on the
// lattice of `links`, which are used as they stand (no phases folded in); they may be one field if a target is given,
// for D reads the sites of the other parity only. Terms are added in the order mu = x, y, z, t, forward before
// backward.
void plain_hop(const Communicator& communicator, const LinkField& links, const Boundary& boundary, VectorField& out,
               const VectorField& in, std::optional<Parity> target = std::nullopt);

// sum_x |a(x)|^2: exact sums, each rounded once.
struct Norms2 {
  double all = 0, even = 0, odd = 0;  // over all sites, and those of one parity
};
Norms2 norms2(const Communicator& communicator, const VectorField& a);
double norm2(const Communicator& communicator, const VectorField& a, std::optional<Parity> parity = std::nullopt);

// Whether every number of the field is zero.
bool is_zero(const Communicator& communicator, const VectorField& a);

// sum_x a(x)^dagger b(x); real and imaginary part are each an exact sum.
Complex<double> dot(const Communicator& communicator, const VectorField& a, const VectorField& b);

// How well a system is solved: r receives the residual, returned is its squared norm. sqrt(|r|^2 / |b|^2) is what a
// certificate states. r is another field than x and b.

// Of the full system M x = b, M = 2m + D: r = b - M x.
double full_residual(const Communicator& communicator, const LinkField& links, const Boundary& boundary, double mass,
                     const VectorField& x, const VectorField& b, VectorField& r);

// Of the parity system A x = b, A = 4m^2 - D^2 on the sites of `parity`: there r = b - A x. The other sites of x and b
// are not looked at, those of r receive D x.
double parity_residual(const Communicator& communicator, const LinkField& links, const Boundary& boundary, double mass,
                       Parity parity, const VectorField& x, const VectorField& b, VectorField& r);

// exp(i pi theta): exactly +1, -1, +i, -i where theta is a multiple of 1/2. Local.
Complex<double> boundary_phase(double theta);

}  // namespace staghorn
