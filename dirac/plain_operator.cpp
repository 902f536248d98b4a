#include "dirac/plain_operator.hpp"

#include <algorithm>
#include <numbers>
#include <utility>

#include "dirac/exact_sum.hpp"
#include "dirac/su3_matrix.hpp"
#include "halo/error.hpp"
#include "halo/phase.hpp"

namespace staghorn {

namespace {

using Vector = ColorVector<double>;

// Sites one thread works through at a time.
constexpr std::int64_t sites_per_slab = 256;

// One of the eight directions: which links, which neighbours, and the phase of a hop that leaves the global lattice.
struct Direction {
  const LinkField* links;
  int mu, direction;
  Complex<double> crossing_phase;
};

// out(x) += eta_mu(x) phase v
STAGHORN_INLINE void add_with_phase(Vector& out, const Direction& d, std::int64_t site, const Vector& v) {
  const Lattice& lattice = d.links->lattice();
  const Coordinates x = lattice.to_global(lattice.site_coordinates(site));
  const bool crosses = x[d.mu] == (d.direction > 0 ? lattice.global()[d.mu] - 1 : 0);
  const double eta = staggered_phase(d.mu, x);
  for (int i = 0; i < 3; ++i) out.c[i] = out.c[i] + eta * (crosses ? d.crossing_phase * v.c[i] : v.c[i]);
}

// out(x) += eta_mu(x) phase U_mu(x) in(x+mu)
STAGHORN_FMA_CLONES
void add_forward(const Direction& d, const NeighbourSites<Vector>& ahead, VectorField& out, std::int64_t begin,
                 std::int64_t end) {
  for (std::int64_t x = begin; x < end; ++x) {
    Vector v{};
    multiply_add(v, (*d.links)[x][d.mu], ahead[x]);
    add_with_phase(out[x], d, x, v);
  }
}

// product(x) = -U_mu(x)^dagger in(x): what the site ahead of x needs of x, so that links never travel
STAGHORN_FMA_CLONES
void multiply_backward(const Direction& d, const VectorField& in, VectorField& product, std::int64_t begin,
                       std::int64_t end) {
  for (std::int64_t x = begin; x < end; ++x) {
    product[x] = Vector{};
    adjoint_multiply_subtract(product[x], (*d.links)[x][d.mu], in[x]);
  }
}

// out(x) += eta_mu(x) conj(phase) product(x-mu)
STAGHORN_FMA_CLONES
void add_backward(const Direction& d, const NeighbourSites<Vector>& behind, VectorField& out, std::int64_t begin,
                  std::int64_t end) {
  for (std::int64_t x = begin; x < end; ++x) add_with_phase(out[x], d, x, behind[x]);
}

template <class Work>
void for_slabs(std::int64_t n_sites, const Work& work) {
#pragma omp parallel for
  for (std::int64_t x = 0; x < n_sites; x += sites_per_slab) {
    work(x, std::min(n_sites, x + sites_per_slab));
    made_progress();
  }
}

void require_same_lattice(const LinkField& links, const VectorField& v) {
  if (!(links.lattice() == v.lattice()))
    throw Error("plain operator", "a vector on the lattice of the links, " + to_string(links.lattice().local()),
                to_string(v.lattice().local()));
}

Parity parity_of_site(const Lattice& lattice, std::int64_t site) {
  return Lattice::parity_of(lattice.site_coordinates(site));  // local extents are even: the global parity
}

// result(x) = b(x) - alpha x(x) - beta c(x) on the sites of `parity` (all if none), zero elsewhere, written over c
void subtract_from_source(VectorField& c, const VectorField& b, double alpha, const VectorField& x, double beta,
                          std::optional<Parity> parity) {
#pragma omp parallel for
  for (std::int64_t site = 0; site < c.size(); ++site) {
    const bool wanted = !parity || parity_of_site(c.lattice(), site) == *parity;
    for (int i = 0; i < 3; ++i)
      c[site].c[i] = wanted ? b[site].c[i] - alpha * x[site].c[i] - beta * c[site].c[i] : Complex<double>{0, 0};
  }
}

}  // namespace

Complex<double> boundary_phase(double theta) {
  const double turn = std::fmod(theta, 2.0);  // exact
  if (turn == 0) return {1, 0};
  if (std::fabs(turn) == 1) return {-1, 0};
  if (turn == 0.5 || turn == -1.5) return {0, 1};
  if (turn == -0.5 || turn == 1.5) return {0, -1};
  return {std::cos(std::numbers::pi * turn), std::sin(std::numbers::pi * turn)};
}

void plain_hop(const Communicator& communicator, const LinkField& links, const Boundary& boundary, VectorField& out,
               const VectorField& in) {
  VectorField product(links.lattice());
  plain_hop(communicator, links, boundary, out, in, product);
}

void plain_hop(const Communicator& communicator, const LinkField& links, const Boundary& boundary, VectorField& out,
               const VectorField& in, VectorField& product) {
  require_same_lattice(links, in);
  require_same_lattice(links, out);
  std::fill_n(out.data(), out.size(), Vector{});
  for (int mu = 0; mu < 4; ++mu) {
    const Complex<double> phase = boundary_phase(boundary.theta[mu]);
    const Direction forward{&links, mu, +1, phase}, backward{&links, mu, -1, conjugate(phase)};

    const NeighbourSites<Vector> ahead(communicator, in, mu, +1);
    for_slabs(in.size(), [&](auto begin, auto end) { add_forward(forward, ahead, out, begin, end); });

    for_slabs(in.size(), [&](auto begin, auto end) { multiply_backward(backward, in, product, begin, end); });
    const NeighbourSites<Vector> behind(communicator, product, mu, -1);
    for_slabs(in.size(), [&](auto begin, auto end) { add_backward(backward, behind, out, begin, end); });
  }
}

double norm2(const Communicator& communicator, const VectorField& a, std::optional<Parity> parity) {
  std::vector<double> site_norm2(std::size_t(a.size()), 0.0);
#pragma omp parallel for
  for (std::int64_t site = 0; site < a.size(); ++site)
    if (!parity || parity_of_site(a.lattice(), site) == *parity) site_norm2[site] = norm2(a[site]);
  return exact_sum(communicator, site_norm2);
}

Complex<double> dot(const Communicator& communicator, const VectorField& a, const VectorField& b) {
  std::vector<double> re(std::size_t(a.size())), im(re.size());
#pragma omp parallel for
  for (std::int64_t site = 0; site < a.size(); ++site) {
    const Complex<double> product = dot(a[site], b[site]);
    re[site] = product.re;
    im[site] = product.im;
  }
  return {exact_sum(communicator, re), exact_sum(communicator, im)};
}

ResidualNorms full_residual(const Communicator& communicator, const LinkField& links, const Boundary& boundary,
                            double mass, const VectorField& x, const VectorField& b, ResidualFields& fields) {
  VectorField& r = fields.residual;
  plain_hop(communicator, links, boundary, r, x, fields.product);
  subtract_from_source(r, b, 2 * mass, x, 1, std::nullopt);  // r = b - 2m x - D x
  return {norm2(communicator, r), norm2(communicator, b)};
}

ResidualNorms parity_residual(const Communicator& communicator, const LinkField& links, const Boundary& boundary,
                              double mass, Parity parity, const VectorField& x, const VectorField& b,
                              ResidualFields& fields) {
  // D couples only opposite parities: of D x and D D x just the sites reached from `parity` are read on.
  if (!fields.hopped) fields.hopped.emplace(links.lattice());
  VectorField& r = fields.residual;
  plain_hop(communicator, links, boundary, *fields.hopped, x, fields.product);
  plain_hop(communicator, links, boundary, r, *fields.hopped, fields.product);
  subtract_from_source(r, b, 4 * mass * mass, x, -1, parity);  // r = b - 4m^2 x + D D x
  return {norm2(communicator, r), norm2(communicator, b, parity)};
}

}  // namespace staghorn
