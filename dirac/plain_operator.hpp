// The staggered operator written straight from its equations: slow, readable, the judge of every fast path.
//
// Works on plain fields of the whole local lattice, in double precision with uncompressed links, and shares nothing
// with the kernels but the arithmetic of dirac/su3.hpp. One extra vector field and one face are all it allocates.
// Results have the same bits on every process grid and number of threads. Everything here is collective.
//
// D a(x) = sum_mu eta_mu(x) [ U_mu(x) a(x+mu) - U_mu(x-mu)^dagger a(x-mu) ]   [Kim & Lee, Lattice 2010]
#pragma once

#include <cmath>
#include <optional>

#include "dirac/boundary.hpp"
#include "dirac/site_field.hpp"
#include "halo/communicator.hpp"

namespace staghorn {

// out = D in, on both parities; `out` and `in` are different fields on the lattice of `links`, which are used as they
// stand (no phases folded in). Terms are added in the order mu = x, y, z, t, forward before backward.
void plain_hop(const Communicator& communicator, const LinkField& links, const Boundary& boundary, VectorField& out,
               const VectorField& in);
// The same with a field to work in, which is overwritten.
void plain_hop(const Communicator& communicator, const LinkField& links, const Boundary& boundary, VectorField& out,
               const VectorField& in, VectorField& product);

// sum_x |a(x)|^2 over all sites or those of one parity: an exact sum, rounded once.
double norm2(const Communicator& communicator, const VectorField& a, std::optional<Parity> parity = std::nullopt);

// sum_x a(x)^dagger b(x); real and imaginary part are each an exact sum.
Complex<double> dot(const Communicator& communicator, const VectorField& a, const VectorField& b);

// How well a system is solved. relative() = |b - A x| / |b| is what a certificate states.
struct ResidualNorms {
  double residual2 = 0;  // |b - A x|^2
  double source2 = 0;    // |b|^2
  double relative() const { return std::sqrt(residual2 / source2); }
};

// The fields that residuals are formed in: made once, overwritten by each.
struct ResidualFields {
  VectorField residual, product;
  std::optional<VectorField> hopped;  // made by the first parity system
  explicit ResidualFields(const Lattice& lattice) : residual(lattice), product(lattice) {}
  std::int64_t bytes() const { return residual.bytes() + product.bytes() + (hopped ? hopped->bytes() : 0); }
};

// Of the full system M x = b, M = 2m + D. fields.residual receives b - M x itself.
ResidualNorms full_residual(const Communicator& communicator, const LinkField& links, const Boundary& boundary,
                            double mass, const VectorField& x, const VectorField& b, ResidualFields& fields);

// Of the parity system A x = b, A = 4m^2 - D^2 on the sites of `parity`; the other sites of x and b are not looked at
// (and of fields.residual, which receives b - A x, are zero).
ResidualNorms parity_residual(const Communicator& communicator, const LinkField& links, const Boundary& boundary,
                              double mass, Parity parity, const VectorField& x, const VectorField& b,
                              ResidualFields& fields);

// exp(i pi theta): exactly +1, -1, +i, -i where theta is a multiple of 1/2. Local.
Complex<double> boundary_phase(double theta);

}  // namespace staghorn
