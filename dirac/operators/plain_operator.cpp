#include "dirac/operators/plain_operator.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/fields/plain_algebra.hpp"
#include "dirac/operators/cuda_plain_operator.hpp"
#include "halo/watch/activity.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

using Vector = ColorVector<double>;

// What D reads. Faces of other ranks are in the order of Slice, and empty where mu is not cut.
struct Hop {
  const LinkField& links;
  const VectorField& in;
  Complex<double> crossing_phase[4];          // the phase of a hop in +mu that leaves the global lattice
  std::vector<Vector> ahead[4], behind[4]{};  // in(x); -U_mu(x)^dagger in(x), multiplied there: links never travel
};

// result[i] = -U_mu(x)^dagger in(x), x = slice[i]
STAGHORN_FMA_CLONES
void multiply_backward(const Hop& hop, int mu, const Slice& slice, std::int64_t begin, std::int64_t end,
                       std::vector<Vector>& result) {
  for (std::int64_t i = begin; i < end; ++i) {
    result[i] = {};
    adjoint_multiply_subtract(result[i], hop.links[slice[i]][mu], hop.in[slice[i]]);
  }
}

Hop make_hop(const Communicator& communicator, const LinkField& links, const Boundary& boundary,
             const VectorField& in) {
  Hop hop{links, in, {}, {}};
  const Lattice& lattice = links.lattice();
  for (int mu = 0; mu < 4; ++mu) {
    hop.crossing_phase[mu] = boundary_phase(boundary.theta[mu]);
    if (lattice.grid()[mu] == 1) continue;
    const Slice first = outgoing_slice(lattice, mu, +1), last = outgoing_slice(lattice, mu, -1);
    std::vector<Vector> outgoing(std::size_t(first.size()));
    constexpr std::int64_t at_a_time = 256;
#pragma omp parallel for
    for (std::int64_t i = 0; i < first.size(); ++i) outgoing[i] = in[first[i]];
    hop.ahead[mu] = exchange_face(communicator, lattice, mu, +1, outgoing);
#pragma omp parallel for
    for (std::int64_t i = 0; i < last.size(); i += at_a_time)
      multiply_backward(hop, mu, last, i, std::min(i + at_a_time, last.size()), outgoing);
    hop.behind[mu] = exchange_face(communicator, lattice, mu, -1, outgoing);
  }
  return hop;
}

// The neighbours, one step along mu, of `x` and of the sites after x in its row: the neighbour of the i-th site is i
// further on.
struct Neighbours {
  std::int64_t site;    // the first neighbour, on this rank
  const Vector* ghost;  // its place in a face, if another rank holds it; else null
  bool crosses;         // whether the step leaves the global lattice
};

Neighbours neighbours(const Hop& hop, const Coordinates& x, int mu, int direction) {
  const Lattice& lattice = hop.links.lattice();
  const int extent = lattice.local()[mu], rim = direction > 0 ? extent - 1 : 0;
  Coordinates y = x;
  y[mu] = x[mu] == rim ? extent - 1 - rim : x[mu] + direction;
  if (x[mu] != rim) return {lattice.site_index(y), nullptr, false};
  const bool crosses = lattice.to_global(x)[mu] == (direction > 0 ? lattice.global()[mu] - 1 : 0);
  const std::vector<Vector>& face = direction > 0 ? hop.ahead[mu] : hop.behind[mu];
  if (face.empty()) return {lattice.site_index(y), nullptr, crosses};
  std::int64_t place = 0;  // lexicographic without mu
  for (int nu = 3; nu >= 0; --nu)
    if (nu != mu) place = place * lattice.local()[nu] + x[nu];
  return {0, &face[std::size_t(place)], crosses};
}

// Prefetches a link that is read soon: there are eight streams of links, more than processors follow by themselves. A
// prefetch beyond the last site does nothing.
STAGHORN_INLINE void prefetch(const LinkField& links, std::int64_t site, int mu) {
  const char* link = reinterpret_cast<const char*>(links.data()) + site * std::int64_t(sizeof(Links));
  for (std::size_t k = 0; k < sizeof(ColorMatrix<double>); k += 64)
    __builtin_prefetch(link + std::size_t(mu) * sizeof(ColorMatrix<double>) + k);
}

// sum += eta v, or eta phase v where the step crosses the boundary
STAGHORN_INLINE void add_term(Vector& sum, double eta, bool crosses, const Complex<double>& phase, const Vector& v) {
  for (int i = 0; i < 3; ++i) sum.c[i] = sum.c[i] + eta * (crosses ? phase * v.c[i] : v.c[i]);
}

// out(x) = D in(x) for every `step`-th of `length` sites along x, from `begin` on. In each direction the neighbours of
// all these sites lie on one rank, and on one side of the boundary.
STAGHORN_FMA_CLONES
void hop_run(const Hop& hop, const Coordinates& begin, int length, int step, VectorField& out) {
  const Lattice& lattice = hop.links.lattice();
  const std::int64_t site = lattice.site_index(begin);
  const Neighbours ahead[4] = {neighbours(hop, begin, 0, +1), neighbours(hop, begin, 1, +1),
                               neighbours(hop, begin, 2, +1), neighbours(hop, begin, 3, +1)};
  const Neighbours behind[4] = {neighbours(hop, begin, 0, -1), neighbours(hop, begin, 1, -1),
                                neighbours(hop, begin, 2, -1), neighbours(hop, begin, 3, -1)};
  Coordinates x = lattice.to_global(begin);
  for (int i = 0; i < length; i += step, x[0] += step) {
    Vector sum{};
    for (int mu = 0; mu < 4; ++mu) {
      const double eta = staggered_phase(mu, x);
      const Complex<double> phase = hop.crossing_phase[mu];
      for (const std::int64_t first : {site, behind[mu].site}) prefetch(hop.links, first + i + 4 * step, mu);

      Vector forward{};  // U_mu(x) in(x+mu)
      multiply_add(forward, hop.links[site + i][mu], ahead[mu].ghost ? ahead[mu].ghost[i] : hop.in[ahead[mu].site + i]);
      add_term(sum, eta, ahead[mu].crosses, phase, forward);

      Vector backward{};  // -U_mu(x-mu)^dagger in(x-mu)
      if (behind[mu].ghost)
        backward = behind[mu].ghost[i];
      else
        adjoint_multiply_subtract(backward, hop.links[behind[mu].site + i][mu], hop.in[behind[mu].site + i]);
      add_term(sum, eta, behind[mu].crosses, conjugate(phase), backward);
    }
    out[site + i] = sum;
  }
}

// Computes out(x) = D in(x) for every row, on all its sites or on those of parity `target`, and then calls
// work(first, end, step) with the site indices.
template <class Work>
void for_hopped_rows(const Hop& hop, std::optional<Parity> target, VectorField& out, const Work& work) {
  const Lattice& lattice = hop.links.lattice();
  const int n = lattice.local()[0], step = target ? 2 : 1;
#pragma omp parallel for
  for (std::int64_t row = 0; row < n_rows(lattice); ++row) {
    const Coordinates begin = row_begin(lattice, row);
    const int first = target && Lattice::parity_of(begin) != *target ? 1 : 0;
    for (const auto& [from, to] : {std::pair{0, 1}, std::pair{1, n - 1}, std::pair{n - 1, n}}) {
      Coordinates x = begin;
      x[0] = target ? from + ((from + first) & 1) : from;
      hop_run(hop, x, to - x[0], step, out);
    }
    work(row * n + first, (row + 1) * n, step);
    if (begin[1] == 0) made_progress();
  }
}

// Vectors must lie where the links lie, on the lattice of the links.
void require_beside(const LinkField& links, const VectorField& v) {
  if (!(links.lattice() == v.lattice()))
    throw Error("plain operator", "a vector on the lattice of the links, " + to_string(links.lattice().local()),
                to_string(v.lattice().local()));
  const auto place = [](MemorySpace space) { return space == MemorySpace::cuda ? "on a GPU" : "on the host"; };
  if ((links.space() == MemorySpace::cuda) != (v.space() == MemorySpace::cuda))
    throw Error("plain operator", std::string("a vector ") + place(links.space()) + ", as the links are",
                place(v.space()));
}

// r(x) = b(x) - alpha x(x) - beta D in(x) on the sites of `target` (all if none)
void subtract_hop(const Communicator& communicator, const LinkField& links, const Boundary& boundary, VectorField& r,
                  const VectorField& in, std::optional<Parity> target, const VectorField& b, double alpha,
                  const VectorField& x, double beta) {
  if (links.space() == MemorySpace::cuda)
    return cuda_plain_subtract_hop(communicator, links, boundary, r, in, target, b, alpha, x, beta);
  const Hop hop = make_hop(communicator, links, boundary, in);
  for_hopped_rows(hop, target, r, [&](std::int64_t begin, std::int64_t end, int step) {
    for (std::int64_t site = begin; site < end; site += step)
      for (int i = 0; i < 3; ++i) r[site].c[i] = b[site].c[i] - alpha * x[site].c[i] - beta * r[site].c[i];
  });
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
               const VectorField& in, std::optional<Parity> target) {
  require_beside(links, in);
  require_beside(links, out);
  if (links.space() == MemorySpace::cuda) return cuda_plain_hop(communicator, links, boundary, out, in, target);
  for_hopped_rows(make_hop(communicator, links, boundary, in), target, out, [](auto...) {});
}

double full_residual(const Communicator& communicator, const LinkField& links, const Boundary& boundary, double mass,
                     const VectorField& x, const VectorField& b, VectorField& r) {
  require_beside(links, x);
  require_beside(links, b);
  require_beside(links, r);
  subtract_hop(communicator, links, boundary, r, x, std::nullopt, b, 2 * mass, x, 1);  // r = b - 2m x - D x
  return norm2(communicator, r);
}

double parity_residual(const Communicator& communicator, const LinkField& links, const Boundary& boundary, double mass,
                       Parity parity, const VectorField& x, const VectorField& b, VectorField& r) {
  require_beside(links, b);
  plain_hop(communicator, links, boundary, r, x, opposite(parity));  // D x, on the sites that D takes back to `parity`
  subtract_hop(communicator, links, boundary, r, r, parity, b, 4 * mass * mass, x, -1);  // r = b - 4m^2 x + D D x
  return norm2(communicator, r, parity);
}

#ifndef STAGHORN_CUDA
namespace {
[[noreturn]] void refuse() { throw Error("this build of Staghorn has no plain operator on GPUs"); }
}  // namespace

void cuda_plain_hop(const Communicator&, const LinkField&, const Boundary&, VectorField&, const VectorField&,
                    std::optional<Parity>) {
  refuse();
}
void cuda_plain_subtract_hop(const Communicator&, const LinkField&, const Boundary&, VectorField&, const VectorField&,
                             std::optional<Parity>, const VectorField&, double, const VectorField&, double) {
  refuse();
}
void cuda_apply_milc_signs(VectorField&) { refuse(); }
#endif

}  // namespace staghorn
