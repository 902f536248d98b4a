#include "dirac/operators/plain_operator.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/fields/plain_algebra.hpp"
#include "dirac/operators/cuda_plain_operator.hpp"
#include "halo/watch/activity.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

using Vector = ColorVector<double>;

// The terms of D with links of one kind: U_mu(x) leads `steps` sites along mu. Faces of other ranks are in the order of
// Slice, slice by slice in ascending x_mu, and empty where mu is not cut. A GPU has them in the same order.
struct Terms {
  const LinkField& links;
  int steps;
  double weight;                              // of all terms
  std::vector<Vector> ahead[4], behind[4]{};  // in(x); -U_mu(x)^dagger in(x), multiplied there: links never travel
};

// What D reads.
struct Hop {
  const VectorField& in;
  std::vector<Terms> terms;           // of one step, and for improved quarks of three
  Complex<double> crossing_phase[4];  // the phase of a hop in +mu that leaves the global lattice
  std::optional<Leg> only;            // the one term that is computed; absent: all

  bool has(int mu, int k, bool forward) const {
    return !only || (only->mu == mu && only->forward == forward && steps_of(only->set) == terms[std::size_t(k)].steps);
  }
};

// result[i] = -U_mu(x)^dagger in(x), x = slice[i]
STAGHORN_FMA_CLONES
void multiply_backward(const LinkField& links, const VectorField& in, int mu, const Slice& slice, std::int64_t begin,
                       std::int64_t end, std::vector<Vector>& result) {
  for (std::int64_t i = begin; i < end; ++i) {
    result[i] = {};
    adjoint_multiply_subtract(result[i], links[slice[i]][mu], in[slice[i]]);
  }
}

// Fetches the faces that the terms need in direction mu, all slices of one side in one message. Collective.
void fetch_faces(const Communicator& communicator, const VectorField& in, int mu, Terms& terms) {
  const Lattice& lattice = in.lattice();
  std::vector<Vector> ahead, behind, slice;
  for (int depth = 0; depth < terms.steps; ++depth) {
    const Slice first = outgoing_slice(lattice, mu, +1, depth),
                last = outgoing_slice(lattice, mu, -1, terms.steps - 1 - depth);
    slice.resize(std::size_t(first.size()));
    constexpr std::int64_t at_a_time = 256;
#pragma omp parallel for
    for (std::int64_t i = 0; i < first.size(); ++i) slice[i] = in[first[i]];
    ahead.insert(ahead.end(), slice.begin(), slice.end());
#pragma omp parallel for
    for (std::int64_t i = 0; i < last.size(); i += at_a_time)
      multiply_backward(terms.links, in, mu, last, i, std::min(i + at_a_time, last.size()), slice);
    behind.insert(behind.end(), slice.begin(), slice.end());
  }
  terms.ahead[mu] = exchange_face(communicator, lattice, mu, +1, ahead);
  terms.behind[mu] = exchange_face(communicator, lattice, mu, -1, behind);
}

Hop make_hop(const Communicator& communicator, const OperatorLinks& links, const Boundary& boundary,
             const VectorField& in, std::optional<Leg> only = std::nullopt) {
  Hop hop{in, {}, {}, only};
  hop.terms.push_back({links.near, 1, 1, {}});
  if (links.naik) hop.terms.push_back({*links.naik, 3, links.naik_scale, {}});
  for (int mu = 0; mu < 4; ++mu) {
    hop.crossing_phase[mu] = boundary_phase(boundary.theta[mu]);
    if (in.lattice().grid()[mu] == 1) continue;
    for (Terms& terms : hop.terms)
      if (!only || (only->mu == mu && steps_of(only->set) == terms.steps)) fetch_faces(communicator, in, mu, terms);
  }
  return hop;
}

// The neighbours, some steps along mu, of `x` and of the sites after x in its row: the neighbour of the i-th site is i
// further on.
struct Neighbours {
  std::int64_t site;    // the first neighbour, on this rank
  const Vector* ghost;  // its place in a face, if another rank holds it; else null
  bool crosses;         // whether the step leaves the global lattice
};

Neighbours neighbours(const Terms& terms, const Coordinates& x, int mu, int direction) {
  const Lattice& lattice = terms.links.lattice();
  const int extent = lattice.local()[mu], place_mu = x[mu] + direction * terms.steps;
  Coordinates y = x;
  y[mu] = (place_mu + extent) % extent;
  if (y[mu] == place_mu) return {lattice.site_index(y), nullptr, false};
  const int global_mu = lattice.to_global(x)[mu] + direction * terms.steps;
  const bool crosses = global_mu < 0 || global_mu >= lattice.global()[mu];
  const std::vector<Vector>& face = direction > 0 ? terms.ahead[mu] : terms.behind[mu];
  if (face.empty()) return {lattice.site_index(y), nullptr, crosses};
  std::int64_t place = direction > 0 ? place_mu - extent : place_mu + terms.steps;  // slice; lexicographic without mu
  for (int nu = 3; nu >= 0; --nu)
    if (nu != mu) place = place * lattice.local()[nu] + x[nu];
  return {0, &face[std::size_t(place)], crosses};
}

// Prefetches a link that is read soon: there are eight streams of links or more, and processors do not follow so many
// by themselves. A prefetch beyond the last site does nothing.
STAGHORN_INLINE void prefetch(const LinkField& links, std::int64_t site, int mu) {
  const char* link = reinterpret_cast<const char*>(links.data()) + site * std::int64_t(sizeof(Links));
  for (std::size_t k = 0; k < sizeof(ColorMatrix<double>); k += 64)
    __builtin_prefetch(link + std::size_t(mu) * sizeof(ColorMatrix<double>) + k);
}

// sum += factor v, or factor phase v where the step crosses the boundary
STAGHORN_INLINE void add_term(Vector& sum, double factor, bool crosses, const Complex<double>& phase, const Vector& v) {
  for (int i = 0; i < 3; ++i) sum.c[i] = sum.c[i] + factor * (crosses ? phase * v.c[i] : v.c[i]);
}

// out(x) = D in(x) for every `step`-th of `length` sites along x, from `begin` on. In each direction the neighbours of
// all these sites lie on one rank, and on one side of the boundary.
STAGHORN_FMA_CLONES
void hop_run(const Hop& hop, const Coordinates& begin, int length, int step, VectorField& out) {
  const Lattice& lattice = hop.in.lattice();
  const std::int64_t site = lattice.site_index(begin);
  const int n_terms = int(hop.terms.size());
  Neighbours ahead[4][2], behind[4][2];
  const int first_mu = hop.only ? hop.only->mu : 0, end_mu = hop.only ? first_mu + 1 : 4;
  for (int mu = first_mu; mu < end_mu; ++mu)
    for (int k = 0; k < n_terms; ++k) {
      ahead[mu][k] = neighbours(hop.terms[std::size_t(k)], begin, mu, +1);
      behind[mu][k] = neighbours(hop.terms[std::size_t(k)], begin, mu, -1);
    }
  Coordinates x = lattice.to_global(begin);
  for (int i = 0; i < length; i += step, x[0] += step) {
    Vector sum{};
    for (int mu = first_mu; mu < end_mu; ++mu) {
      const double eta = staggered_phase(mu, x);
      const Complex<double> phase = hop.crossing_phase[mu];
      for (int k = 0; k < n_terms; ++k) {
        const LinkField& links = hop.terms[std::size_t(k)].links;
        const double factor = eta * hop.terms[std::size_t(k)].weight;
        const Neighbours &to = ahead[mu][k], &from = behind[mu][k];
        for (const std::int64_t first : {site, from.site}) prefetch(links, first + i + 4 * step, mu);

        if (hop.has(mu, k, true)) {
          Vector forward{};  // U_mu(x) in(x + steps mu)
          multiply_add(forward, links[site + i][mu], to.ghost ? to.ghost[i] : hop.in[to.site + i]);
          add_term(sum, factor, to.crosses, phase, forward);
        }
        if (!hop.has(mu, k, false)) continue;

        Vector backward{};  // -U_mu(x - steps mu)^dagger in(x - steps mu)
        if (from.ghost)
          backward = from.ghost[i];
        else
          adjoint_multiply_subtract(backward, links[from.site + i][mu], hop.in[from.site + i]);
        add_term(sum, factor, from.crosses, conjugate(phase), backward);
      }
    }
    out[site + i] = sum;
  }
}

// Computes out(x) = D in(x) for every row, on all its sites or on those of parity `target`, and then calls
// work(first, end, step) with the site indices.
template <class Work>
void for_hopped_rows(const Hop& hop, std::optional<Parity> target, VectorField& out, const Work& work) {
  const Lattice& lattice = hop.in.lattice();
  const int n = lattice.local()[0], step = target ? 2 : 1, rim = hop.terms.back().steps;
  std::set<int> cuts{0, n};  // near the rim each site is a run of its own
  for (int i = 1; i <= rim; ++i) cuts.insert({i, n - i});
  const std::vector<int> ends(cuts.begin(), cuts.end());
#pragma omp parallel for
  for (std::int64_t row = 0; row < n_rows(lattice); ++row) {
    const Coordinates begin = row_begin(lattice, row);
    const int first = target && Lattice::parity_of(begin) != *target ? 1 : 0;
    for (std::size_t run = 0; run + 1 < ends.size(); ++run) {
      const int from = ends[run], to = ends[run + 1];
      Coordinates x = begin;
      x[0] = target ? from + ((from + first) & 1) : from;
      if (x[0] < to) hop_run(hop, x, to - x[0], step, out);
    }
    work(row * n + first, (row + 1) * n, step);
    if (begin[1] == 0) made_progress();
  }
}

// Vectors must lie where the links lie, on the lattice of the links.
void require_beside(const OperatorLinks& links, const VectorField& v) {
  require_fit(links);
  if (!(links.lattice() == v.lattice()))
    throw Error("plain operator", "a vector on the lattice of the links, " + to_string(links.lattice().local()),
                to_string(v.lattice().local()));
  const auto place = [](MemorySpace space) { return space == MemorySpace::cuda ? "on a GPU" : "on the host"; };
  if ((links.near.space() == MemorySpace::cuda) != (v.space() == MemorySpace::cuda))
    throw Error("plain operator", std::string("a vector ") + place(links.near.space()) + ", as the links are",
                place(v.space()));
}

// r(x) = b(x) - alpha x(x) - beta D in(x) on the sites of `target` (all if none)
void subtract_hop(const Communicator& communicator, const OperatorLinks& links, const Boundary& boundary,
                  VectorField& r, const VectorField& in, std::optional<Parity> target, const VectorField& b,
                  double alpha, const VectorField& x, double beta) {
  if (links.near.space() == MemorySpace::cuda)
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

void plain_hop(const Communicator& communicator, const OperatorLinks& links, const Boundary& boundary, VectorField& out,
               const VectorField& in, std::optional<Parity> target) {
  require_beside(links, in);
  require_beside(links, out);
  if (links.near.space() == MemorySpace::cuda) return cuda_plain_hop(communicator, links, boundary, out, in, target);
  for_hopped_rows(make_hop(communicator, links, boundary, in), target, out, [](auto...) {});
}

void plain_leg(const Communicator& communicator, const OperatorLinks& links, const Boundary& boundary, VectorField& out,
               const VectorField& in, Parity target, const Leg& leg) {
  require_beside(links, in);
  require_beside(links, out);
  for_hopped_rows(make_hop(communicator, links, boundary, in, leg), target, out, [](auto...) {});
}

double full_residual(const Communicator& communicator, const OperatorLinks& links, const Boundary& boundary,
                     double mass, const VectorField& x, const VectorField& b, VectorField& r) {
  require_beside(links, x);
  require_beside(links, b);
  require_beside(links, r);
  subtract_hop(communicator, links, boundary, r, x, std::nullopt, b, 2 * mass, x, 1);  // r = b - 2m x - D x
  return norm2(communicator, r);
}

double parity_residual(const Communicator& communicator, const OperatorLinks& links, const Boundary& boundary,
                       double mass, Parity parity, const VectorField& x, const VectorField& b, VectorField& r) {
  require_beside(links, b);
  plain_hop(communicator, links, boundary, r, x, opposite(parity));  // D x, on the sites that D takes back to `parity`
  subtract_hop(communicator, links, boundary, r, r, parity, b, 4 * mass * mass, x, -1);  // r = b - 4m^2 x + D D x
  return norm2(communicator, r, parity);
}

void apply_milc_signs(VectorField& x) {
  if (x.space() == MemorySpace::cuda) return cuda_apply_milc_signs(x);
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < x.size(); ++site) {
    if (milc_phase_sign(x.lattice().to_global(x.lattice().site_coordinates(site))) > 0) continue;
    for (Complex<double>& c : x[site].c) c = {-c.re, -c.im};
  }
}

#ifndef STAGHORN_CUDA
namespace {
[[noreturn]] void refuse() { throw Error("this build of Staghorn has no plain operator on GPUs"); }
}  // namespace

void cuda_plain_hop(const Communicator&, const OperatorLinks&, const Boundary&, VectorField&, const VectorField&,
                    std::optional<Parity>) {
  refuse();
}
void cuda_plain_subtract_hop(const Communicator&, const OperatorLinks&, const Boundary&, VectorField&,
                             const VectorField&, std::optional<Parity>, const VectorField&, double, const VectorField&,
                             double) {
  refuse();
}
void cuda_apply_milc_signs(VectorField&) { refuse(); }
#endif

}  // namespace staghorn
