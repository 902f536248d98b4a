// Norms, products and zeros of plain vector fields. Sums are exact and rounded once, so they have the same bits on
// every process grid and number of threads, and on a GPU. All fields of a call lie on the host
// or all on one GPU, those of dot on the host.
#pragma once

#include <optional>

#include "dirac/fields/site_field.hpp"
#include "halo/communicator.hpp"

namespace staghorn {

// Rows are the sites along x, numbered by (y, z, t), y fastest: how many rows this rank has, and where one begins.
// Local.
inline std::int64_t n_rows(const Lattice& lattice) { return lattice.local_volume() / lattice.local()[0]; }
inline Coordinates row_begin(const Lattice& lattice, std::int64_t row) {
  return unravel(row * lattice.local()[0], lattice.local());
}

// sum_x |a(x)|^2 over all sites, and over the sites of one parity. Collective.
struct Norms2 {
  double all = 0, even = 0, odd = 0;
};
Norms2 norms2(const Communicator& communicator, const VectorField& a);
double norm2(const Communicator& communicator, const VectorField& a, std::optional<Parity> parity = std::nullopt);

// Returns sqrt(mean_x |r(x)|^2 / |x(x)|^2) over the sites of `parity`, or over all sites, where the ratio is 1 at sites
// with x(x) = 0: Fermilab's residual for heavy quarks, which MILC calls relresid. `r` is used up. Both fields lie in
// one space. Collective.
double heavy_quark_residual(const Communicator& communicator, const VectorField& x, VectorField& r,
                            std::optional<Parity> parity);

// sum_x a(x)^dagger b(x); real and imaginary part are each an exact sum. Collective.
Complex<double> dot(const Communicator& communicator, const VectorField& a, const VectorField& b);

// y += factor a, and y = factor y on the sites of `parity`, or on all. Local.
void add(VectorField& y, double factor, const VectorField& a);
void multiply(VectorField& y, double factor, std::optional<Parity> parity = std::nullopt);

// On the sites of one parity: y = s a - y, and y = (a - y) / s. Local.
void subtract_from_multiple(VectorField& y, double s, const VectorField& a, Parity parity);
void divide_difference(VectorField& y, const VectorField& a, double s, Parity parity);

// a = 0 on the sites of one parity. Local.
void clear_parity(VectorField& a, Parity parity);

// Whether every number of the field is zero. Collective.
bool is_zero(const Communicator& communicator, const VectorField& a);
// Whether every number is zero on the sites of `parity` of this rank. Local.
bool is_zero_on(Parity parity, const VectorField& a);

}  // namespace staghorn
