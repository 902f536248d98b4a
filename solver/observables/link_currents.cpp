#include "solver/observables/link_currents.hpp"

#include <optional>

#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/fields/plain_algebra.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "solver/observables/spin_taste_operator.hpp"

namespace staghorn {

namespace {

using Density = SiteField<Complex<double>>;

// out(x) = -V_mu(x)^dagger in(x)
STAGHORN_FMA_CLONES
void multiply_adjoint(const LinkField& links, int mu, const VectorField& in, std::int64_t begin, std::int64_t end,
                      VectorField& out) {
  for (std::int64_t site = begin; site < end; ++site) adjoint_multiply_subtract(out[site], links[site][mu], in[site]);
}

STAGHORN_FMA_CLONES
void multiply_links(const LinkField& links, int mu, const NeighbourSites<ColorVector<double>>& in, std::int64_t begin,
                    std::int64_t end, VectorField& out) {
  for (std::int64_t site = begin; site < end; ++site) multiply_add(out[site], links[site][mu], in[site]);
}

template <class Function>
void for_each_row(const Lattice& lattice, const Function& function) {
  const std::int64_t row = lattice.local()[0];
#pragma omp parallel for
  for (std::int64_t r = 0; r < n_rows(lattice); ++r) function(r * row, (r + 1) * row);
}

// Multiplies by `phase` where x_mu, in global coordinates, is from `first` to `last`.
void multiply_slices(const Complex<double>& phase, int mu, int first, int last, VectorField& v) {
  const Lattice& lattice = v.lattice();
  for (int x_mu = first; x_mu <= last; ++x_mu) {
    const int here = x_mu - lattice.origin()[mu];
    if (here < 0 || here >= lattice.local()[mu]) continue;
    const Slice slice(lattice, mu, here);
    for (std::int64_t i = 0; i < slice.size(); ++i)
      for (Complex<double>& c : v[slice[i]].c) c = phase * c;
  }
}

// V_mu(x) in(x + steps mu), with the boundary condition.
VectorField carried_back(const Communicator& communicator, const LinkField& links, const Boundary& boundary, int mu,
                         int steps, const VectorField& in) {
  VectorField out(in.lattice());
  const NeighbourSites<ColorVector<double>> ahead(communicator, in, mu, +1, steps);
  for_each_row(in.lattice(), [&](auto begin, auto end) { multiply_links(links, mu, ahead, begin, end, out); });
  const int n = in.lattice().global()[mu];
  multiply_slices(boundary_phase(boundary.theta[std::size_t(mu)]), mu, n - steps, n - 1, out);
  return out;
}

// -V_mu(x - mu)^dagger in(x - mu), with the boundary condition.
VectorField carried_on(const Communicator& communicator, const LinkField& links, const Boundary& boundary, int mu,
                       const VectorField& in) {
  VectorField multiplied(in.lattice());
  for_each_row(in.lattice(), [&](auto begin, auto end) { multiply_adjoint(links, mu, in, begin, end, multiplied); });
  VectorField out = shifted(communicator, multiplied, mu, -1);
  multiply_slices(conjugate(boundary_phase(boundary.theta[std::size_t(mu)])), mu, 0, 0, out);
  return out;
}

// sum(x) += weight sign(x) a^dagger(x) b(x). sign(x) is eta_mu(x), times eps(x) where there is an origin.
struct Products {
  double weight;
  int mu;
  std::optional<Coordinates> origin;
};
STAGHORN_FMA_CLONES
void add_row(const Products& products, const Coordinates& row, const VectorField& a, const VectorField& b,
             std::int64_t begin, std::int64_t end, Density& sum) {
  Coordinates x = row;
  for (std::int64_t site = begin; site < end; ++site, ++x[0]) {
    int sign = staggered_phase(products.mu, x);
    if (products.origin) sign *= sign_at(0, parities_of(x, *products.origin));
    const double factor = sign * products.weight;
    const Complex<double> product = dot(a[site], b[site]);
    sum[site].re = multiply_add(factor, product.re, sum[site].re);
    sum[site].im = multiply_add(factor, product.im, sum[site].im);
  }
}

void add_products(const Products& products, const VectorField& a, const VectorField& b, Density& sum) {
  const Lattice& lattice = sum.lattice();
  for_each_row(lattice, [&](auto begin, auto end) {
    add_row(products, lattice.to_global(lattice.site_coordinates(begin)), a, b, begin, end, sum);
  });
}

// j1, or j3 for steps = 3
Density link_products(const Communicator& communicator, const LinkField& links, double weight, const Boundary& boundary,
                      int mu, int steps, const VectorField& phi, const VectorField& psi) {
  Density j(phi.lattice());
  const Products products{weight, mu, {}};
  add_products(products, phi, carried_back(communicator, links, boundary, mu, steps, psi), j);
  add_products(products, carried_back(communicator, links, boundary, mu, steps, phi), psi, j);
  return j;
}

}  // namespace

SiteField<Complex<double>> conserved_current(const Communicator& communicator, const OperatorLinks& links,
                                             const Boundary& boundary, int mu, const VectorField& phi,
                                             const VectorField& psi) {
  Density current = link_products(communicator, links.near, 1, boundary, mu, 1, phi, psi);
  if (!links.naik) return current;
  const Density naik = link_products(communicator, *links.naik, links.naik_scale, boundary, mu, 3, phi, psi);
  const NeighbourSites<Complex<double>> one(communicator, naik, mu, -1), two(communicator, naik, mu, -1, 2);
#pragma omp parallel for
  for (std::int64_t site = 0; site < current.size(); ++site)
    current[site] = current[site] + naik[site] + one[site] + two[site];
  return current;
}

std::vector<Complex<double>> current_density(const Communicator& communicator, const MeasuredLinks& links,
                                             const LinkCurrent& current, const Coordinates& origin,
                                             const VectorField& antiquark, const VectorField& quark) {
  const Lattice& lattice = antiquark.lattice();
  const int mu = current.mu;
  Density density(lattice);
  if (current.links == CurrentLinks::conserved) {
    VectorField phi = antiquark;
#pragma omp parallel for
    for (std::int64_t site = 0; site < phi.size(); ++site) {
      const double eps = sign_at(0, parities_of(lattice.to_global(lattice.site_coordinates(site)), origin));
      for (Complex<double>& c : phi[site].c) c = eps * c;
    }
    density = conserved_current(communicator, links.action, links.boundary, mu, phi, quark);
  } else {
    const LinkField& read = current.links == CurrentLinks::thin ? *links.thin : links.action.near;
    const double weight = current.part == CurrentPart::both ? 0.5 : 1;
    if (current.part != CurrentPart::backward)
      add_products({weight, mu, origin}, antiquark, carried_back(communicator, read, links.boundary, mu, 1, quark),
                   density);
    if (current.part != CurrentPart::forward)  // carried_on has a minus sign
      add_products({-weight, mu, origin}, carried_on(communicator, read, links.boundary, mu, antiquark), quark,
                   density);
  }
  return {density.data(), density.data() + density.size()};
}

}  // namespace staghorn
