#include "solver/session/certify/convention_search.hpp"

#include <algorithm>
#include <array>

#include "dirac/algebra/su3_matrix.hpp"
#include "solver/session/certify/convention_signs.hpp"
#include "solver/session/certify/site_samples.hpp"

namespace staghorn {

namespace {

constexpr std::size_t most_candidates = 16;

// Sums over the sites of one parity of the sample. y: D x in the first, D^2 x in the second.
struct SampleSums {
  double bb = 0, xx = 0, xb = 0;
  std::array<double, 2> xy{}, yy{}, yb{};
  SampleSums& operator+=(const SampleSums& other) {
    bb += other.bb, xx += other.xx, xb += other.xb;
    for (int k = 0; k < 2; ++k) xy[k] += other.xy[k], yy[k] += other.yy[k], yb[k] += other.yb[k];
    return *this;
  }
};

// The relative |b - alpha x - beta y|^2 that least squares leave; 1 where 4m^2 would be negative.
double left_by_fit(const SampleSums& sums, bool squared) {
  const double xy = sums.xy[squared], yy = sums.yy[squared], yb = sums.yb[squared];
  const double determinant = sums.xx * yy - xy * xy;
  if (!(sums.bb > 0) || !(sums.xx > 0)) return 1;
  double alpha = sums.xb / sums.xx, beta = 0;
  if (determinant > 1e-12 * sums.xx * yy) {
    alpha = (yy * sums.xb - xy * yb) / determinant;
    beta = (sums.xx * yb - xy * sums.xb) / determinant;
  }
  if (squared && alpha * beta > 0 && alpha * alpha * sums.xx > 1e-12 * sums.bb) return 1;
  return std::max(0.0, 1 - (alpha * sums.xb + beta * yb) / sums.bb);
}

// S(x) sum over paths of S(end) value: D x or D^2 x in a convention, in the convention's own signs.
ColorVector<double> sum_of(const std::vector<PathSum>& paths, int sign_here, bool antiperiodic, const auto& sign_of) {
  ColorVector<double> sum{};
  for (const PathSum& path : paths) {
    const double sign = sign_here * sign_of(path.end) * (antiperiodic && path.crosses_t ? -1 : 1);
    for (int i = 0; i < 3; ++i) sum.c[i] = sum.c[i] + sign * path.value.c[i];
  }
  return sum;
}

// Of even and odd sites.
std::array<SampleSums, 2> sums_at(const std::vector<SampledSite>& sites, const Convention& convention) {
  std::array<SampleSums, 2> sums;
  const bool antiperiodic = convention.boundary.theta[3] == 1;
  const auto sign_of = [&](const Coordinates& x) { return convention_sign(convention, x); };
  for (const SampledSite& at : sites) {
    SampleSums& sum = sums[std::size_t(Lattice::parity_of(at.site))];
    const int here = sign_of(at.site);
    sum.bb += norm2(at.b);
    sum.xx += norm2(at.x);
    sum.xb += dot(at.x, at.b).re;
    for (int k = 0; k < 2; ++k) {
      const ColorVector<double> y = sum_of(k == 0 ? at.one : at.two, here, antiperiodic, sign_of);
      sum.xy[k] += dot(at.x, y).re;
      sum.yy[k] += norm2(y);
      sum.yb[k] += dot(y, at.b).re;
    }
  }
  return sums;
}

// Origins that make a difference: x, y and z by parity, but not the direction that comes last in the order of the
// phases, on whose coordinate no phase depends; t by the slice behind an antiperiodic boundary.
std::vector<Coordinates> origins(const Convention& convention, const Extents& global) {
  const int last = convention.phases == LinkPhases::milc ? 2 : convention.phases == LinkPhases::tifr ? 0 : 3;
  const bool antiperiodic = convention.boundary.theta[3] == 1;
  const int slices = antiperiodic ? global[3] : last == 3 ? 1 : 2;
  std::vector<Coordinates> found;
  for (int t = 0; t < slices; ++t)
    for (int corner = 0; corner < 8; ++corner) {
      const Coordinates origin{corner & 1, corner >> 1 & 1, corner >> 2 & 1, t};
      if (last == 3 || origin[last] == 0) found.push_back(origin);
    }
  return found;
}

// `first` and then the others of a list.
template <class Value, std::size_t n>
std::vector<Value> beginning_with(const Value& first, const std::array<Value, n>& others) {
  std::vector<Value> values{first};
  for (const Value& value : others)
    if (!(value == first)) values.push_back(value);
  return values;
}

std::vector<Boundary> boundaries(const Boundary& asked) {
  if (asked.theta[3] != 0 && asked.theta[3] != 1) return {asked};
  Boundary other = asked;
  other.theta[3] = 1 - asked.theta[3];
  return {asked, other};
}

// Conventions of one set of links in one reading, without the system: those of the usual origin first, as on one parity
// the phases of one convention may be those of another with another origin.
std::vector<Convention> conventions(const Convention& asked, const Extents& global) {
  std::vector<Convention> list;
  Convention convention = asked;
  for (const Boundary& boundary : boundaries(asked.boundary))
    for (const LinkPhases phases :
         beginning_with(asked.phases, std::array{LinkPhases::cps, LinkPhases::milc, LinkPhases::tifr})) {
      convention.boundary = boundary;
      convention.phases = phases;
      for (const Coordinates& origin : origins(convention, global)) {
        convention.origin = origin;
        list.push_back(convention);
      }
    }
  std::stable_partition(list.begin(), list.end(), [](const Convention& one) { return one.origin == Coordinates{}; });
  return list;
}

struct Scored {
  Candidate candidate;
  double left;  // relative |r|^2 at the sites of the sample
};

void score(const std::array<SampleSums, 2>& sums, std::span<const TriedSystem> systems, Convention convention,
           const TriedLinks& tried, std::vector<Scored>& scored) {
  SampleSums all = sums[0];
  all += sums[1];
  for (const auto& [squared, parity] : systems) {
    convention.squared = squared;
    convention.parity = parity;
    scored.push_back({{convention, &tried}, left_by_fit(parity ? sums[std::size_t(*parity)] : all, squared)});
  }
}

}  // namespace

Shortlist shortlist(const Communicator& communicator, std::span<const TriedLinks> links,
                    std::span<const TriedSystem> systems, const Convention& asked, const VectorField& x,
                    const VectorField& b) {
  const std::vector<std::int64_t> sites = chosen_sites(communicator, x, b);
  const std::vector<Convention> of_links = conventions(asked, x.lattice().global());
  std::vector<Scored> scored;
  for (const TriedLinks& tried : links) {
    const SiteSamples samples(communicator, tried.links, x, b, sites);
    for (const LinkReading reading :
         {LinkReading::as_stored, LinkReading::daggered, LinkReading::transposed, LinkReading::conjugated}) {
      const std::vector<SampledSite> sampled = samples.path_sums(reading, asked.boundary);
      for (Convention convention : of_links) {
        convention.quarks = tried.quarks;
        convention.links = reading;
        score(sums_at(sampled, convention), systems, convention, tried, scored);
      }
    }
  }
  Shortlist list;
  list.tried = long(scored.size());
  double least = 1;
  for (const Scored& each : scored) least = std::min(least, each.left);
  for (const Scored& each : scored)
    if (each.left <= std::max(100 * least, 1e-13) && each.left < 1 && list.candidates.size() < most_candidates)
      list.candidates.push_back(each.candidate);
  return list;
}

}  // namespace staghorn
