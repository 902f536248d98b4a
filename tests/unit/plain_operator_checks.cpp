// The plain operator has the bits of its formula, added up term by term, and so has its second text, which GPUs run. A
// hop to one parity leaves the other alone. Norms by parity are exact sums.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "dirac/algebra/exact_sum.hpp"
#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/fields/plain_algebra.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "dirac/operators/plain_site.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

using Vector = ColorVector<double>;

// Random links in SU(3) and a random vector on one rank; for improved quarks fat and Naik links of any matrices.
struct Problem {
  Problem(const Extents& extents, const char* conditions, Stencil stencil = Stencil::naive)
      : boundary(parse_boundary(conditions)),
        lattice(extents, {1, 1, 1, 1}, 0),
        links(lattice),
        naik(lattice),
        stencil(stencil),
        in(lattice) {
    make_random(links);
    if (stencil == Stencil::improved)
      for (std::int64_t site = 0; site < in.size(); ++site) {
        RandomStream random = test_stream(2000000 + site);
        for (LinkField* field : {&links, &naik})
          for (auto& link : (*field)[site]) link = random_matrix(random);
      }
    for (std::int64_t site = 0; site < in.size(); ++site) {
      RandomStream random = test_stream(1000000 + site);
      for (auto& component : in[site].c) component = complex_gaussian(random);
    }
  }

  OperatorLinks all_links() const {
    return stencil == Stencil::naive ? OperatorLinks(links) : OperatorLinks(links, naik, naik_scale);
  }

  static constexpr double naik_scale = -0.17;
  Communicator communicator{MPI_COMM_SELF};
  Boundary boundary;
  Lattice lattice;
  LinkField links, naik;
  Stencil stencil;
  VectorField in;
};

std::vector<Problem> problems() {
  std::vector<Problem> all;
  all.reserve(7);
  all.emplace_back(Extents{2, 2, 2, 2}, "periodic,periodic,periodic,antiperiodic");
  all.emplace_back(Extents{4, 6, 8, 10}, "periodic,antiperiodic,periodic,antiperiodic");
  all.emplace_back(Extents{4, 6, 2, 10}, "0.3,-0.5,antiperiodic,0.125");
  all.emplace_back(Extents{2, 4, 6, 4}, "antiperiodic,0.7,periodic,-0.2");
  all.emplace_back(Extents{4, 4, 4, 4}, "periodic,periodic,periodic,antiperiodic", Stencil::improved);
  all.emplace_back(Extents{4, 6, 8, 10}, "0.3,-0.5,antiperiodic,0.125", Stencil::improved);
  all.emplace_back(Extents{8, 4, 6, 4}, "antiperiodic,0.7,periodic,-0.2", Stencil::improved);
  return all;
}

bool same_bits(const Vector& a, const Vector& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

// D in(x), each hop `steps` sites long: the terms are added one after the other, eight of them, or sixteen for improved
// quarks.
Vector hop_at(const Problem& problem, const Coordinates& x, int steps = 1) {
  Vector sum{};
  for (int mu = 0; mu < 4; ++mu)
    for (const int step : {+1, -1, +3, -3}) {
      const bool naik = std::abs(step) == 3;
      if (naik && problem.stencil == Stencil::naive) continue;
      const LinkField& links = naik ? problem.naik : problem.links;
      const int extent = problem.lattice.local()[mu];
      Coordinates y = x;
      y[mu] = (x[mu] + step * steps + extent) % extent;
      const bool crosses = y[mu] != x[mu] + step * steps;
      const std::int64_t here = problem.lattice.site_index(x), there = problem.lattice.site_index(y);
      Vector v{};
      if (step > 0)
        multiply_add(v, links[here][mu], problem.in[there]);
      else
        adjoint_multiply_subtract(v, links[there][mu], problem.in[there]);
      const Complex<double> phase = boundary_phase((step > 0 ? 1 : -1) * problem.boundary.theta[mu]);
      const double factor = staggered_phase(mu, x) * (naik ? Problem::naik_scale : 1);
      for (int i = 0; i < 3; ++i) sum.c[i] = sum.c[i] + factor * (crosses ? phase * v.c[i] : v.c[i]);
    }
  return sum;
}

bool other_bits(const Problem& problem, const Coordinates& x) {
  std::printf("%s: other bits at site %s\n", to_string(problem.lattice.global()).c_str(), text_of(x).c_str());
  return false;
}

bool plain_hop_has_the_bits_of_its_formula() {
  for (const Problem& problem : problems()) {
    VectorField out(problem.lattice);
    plain_hop(problem.communicator, problem.all_links(), problem.boundary, out, problem.in);
    for (std::int64_t site = 0; site < out.size(); ++site)
      if (const Coordinates x = problem.lattice.site_coordinates(site); !same_bits(out[site], hop_at(problem, x)))
        return other_bits(problem, x);
  }
  return true;
}

template <class OfColor>
Vector of_colors(const OfColor& of_color) {
  return {{of_color(0), of_color(1), of_color(2)}};
}

// What the second text reads of a problem, with hops of `steps` sites. With `faces`, each neighbour beyond the rim is
// read from a face, as if another rank held it.
struct SecondText {
  SecondText(const Problem& problem, int steps, bool with_faces) {
    for (int mu = 0; mu < 4; ++mu) {
      hop.local[mu] = hop.global[mu] = problem.lattice.local()[mu];
      hop.origin[mu] = 0;
      hop.crossing_phase[mu] = boundary_phase(problem.boundary.theta[mu]);
      add_leg(mu, steps, 1, problem.links);
      if (problem.stencil == Stencil::improved) add_leg(mu, 3 * steps, Problem::naik_scale, problem.naik);
    }
    hop.in = problem.in.data();
    if (!with_faces) return;
    for (int l = 0; l < hop.n_legs; ++l) {
      PlainLeg& leg = hop.legs[l];
      std::vector<Vector>&ahead = faces[0][l], &behind = faces[1][l];
      const std::int64_t sites = leg.steps * (problem.lattice.local_volume() / problem.lattice.local()[leg.mu]);
      for (std::int64_t k = 0; k < sites; ++k) {
        ahead.push_back(problem.in[plain_face_site(hop, leg, false, k)]);
        behind.push_back(
            of_colors([&](int i) { return plain_backward(hop, leg, plain_face_site(hop, leg, true, k), i); }));
      }
      leg.ahead = ahead.data(), leg.behind = behind.data();
    }
  }

  void add_leg(int mu, int steps, double weight, const LinkField& links) {
    hop.legs[hop.n_legs++] = {mu, steps, weight, reinterpret_cast<const ColorMatrix<double>*>(links.data()) + mu, 4};
  }

  PlainHop hop;
  std::vector<Vector> faces[2][PlainHop::max_legs];
};

bool second_text_has_the_bits_of_the_formula() {
  for (const Problem& problem : problems())
    for (const int steps : {1, 3})
      for (const bool faces : {false, true}) {
        const Extents& local = problem.lattice.local();
        const int longest = steps * depth_of(problem.stencil);
        if (*std::min_element(local.begin(), local.end()) < longest) continue;
        const SecondText text(problem, steps, faces);
        for (std::int64_t site = 0; site < problem.in.size(); ++site) {
          const Coordinates x = problem.lattice.site_coordinates(site);
          const Vector found = of_colors([&](int i) { return plain_hop_at(text.hop, std::uint32_t(site), i); });
          if (!same_bits(found, hop_at(problem, x, steps))) return other_bits(problem, x);
        }
      }
  return true;
}

bool plain_hop_to_one_parity_leaves_the_other_alone() {
  for (const Problem& problem : problems())
    for (const Parity target : {Parity::even, Parity::odd}) {
      VectorField whole(problem.lattice), in_place = problem.in;
      plain_hop(problem.communicator, problem.all_links(), problem.boundary, whole, problem.in);
      plain_hop(problem.communicator, problem.all_links(), problem.boundary, in_place, in_place, target);
      for (std::int64_t site = 0; site < whole.size(); ++site) {
        const bool on_target = Lattice::parity_of(problem.lattice.site_coordinates(site)) == target;
        if (!same_bits(in_place[site], on_target ? whole[site] : problem.in[site]))
          return other_bits(problem, problem.lattice.site_coordinates(site));
      }
    }
  return true;
}

bool norms_by_parity_are_exact_sums() {
  for (Problem& problem : problems()) {
    const VectorField zero(problem.lattice);
    if (!CHECK(is_zero(problem.communicator, zero)) || !CHECK(!is_zero(problem.communicator, problem.in))) return false;
    std::vector<double> all, of_parity[2];
    for (std::int64_t site = 0; site < problem.in.size(); ++site) {
      const int parity = int(Lattice::parity_of(problem.lattice.site_coordinates(site)));
      if (parity == 1)  // sums of different sizes
        for (Complex<double>& c : problem.in[site].c) c = 1e-7 * c;
      all.push_back(norm2(problem.in[site]));
      of_parity[parity].push_back(all.back());
    }
    const Communicator& communicator = problem.communicator;
    const Norms2 norms = norms2(communicator, problem.in);
    if (!CHECK(norms.all == exact_sum(communicator, all)) ||
        !CHECK(norms.even == exact_sum(communicator, of_parity[0])) ||
        !CHECK(norms.odd == exact_sum(communicator, of_parity[1])) ||
        !CHECK(norm2(communicator, problem.in) == norms.all) ||
        !CHECK(norm2(communicator, problem.in, Parity::odd) == norms.odd))
      return false;
  }
  return true;
}

}  // namespace

std::vector<UnitCheck> plain_operator_checks() {
  return {
      UNIT_CHECK(plain_hop_has_the_bits_of_its_formula),
      UNIT_CHECK(second_text_has_the_bits_of_the_formula),
      UNIT_CHECK(plain_hop_to_one_parity_leaves_the_other_alone),
      UNIT_CHECK(norms_by_parity_are_exact_sums),
  };
}

}  // namespace staghorn
