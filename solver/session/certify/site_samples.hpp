// A few hundred sites of the lattice with all that D and D^2 read there, on every rank. What conventions make of these
// sites can be tried without communication, in a time that does not depend on the volume.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "dirac/fields/site_field.hpp"
#include "dirac/stencil/boundary.hpp"
#include "dirac/stencil/operator_links.hpp"
#include "halo/communicator.hpp"
#include "solver/report/convention.hpp"

namespace staghorn {

// Sites of the global lattice by index: those where b or x are largest, and an even and an odd one of each time slice.
// The same on every process grid. Collective.
std::vector<std::int64_t> chosen_sites(const Communicator& communicator, const VectorField& x, const VectorField& b);

// A sum over paths of one or two hops that begin at one site, end at `end`, and cross the boundary in t an odd number
// of times or not: the products of links with x(end), added. CPS phases and the boundary in x, y and z are in it.
struct PathSum {
  Coordinates end;
  bool crosses_t;
  ColorVector<double> value;
};

struct SampledSite {
  Coordinates site;
  ColorVector<double> x, b;
  std::vector<PathSum> one, two;  // D x and D^2 x
};

// What D and D^2 read at `sites`, collected on every rank.
class SiteSamples {
 public:
  // Collective.
  SiteSamples(const Communicator& communicator, const OperatorLinks& links, const VectorField& x, const VectorField& b,
              std::vector<std::int64_t> sites);

  // The sums over paths with links that are read so. `boundary`: in t a phase other than +-1 is in the sums, and no
  // path crosses. Local.
  std::vector<SampledSite> path_sums(LinkReading reading, const Boundary& boundary) const;

 private:
  struct Place {
    ColorVector<double> x{}, b{};
    Links near{}, naik{};
  };
  struct Step {  // a leg from one site
    Coordinates end;
    int crossings_t;  // of the boundary
  };

  const Place& at(const Coordinates& x) const { return places_[index_.at(index_of(x))]; }
  std::int64_t index_of(const Coordinates& x) const;
  Step step(const Coordinates& from, int leg) const;
  ColorVector<double> hop(const Coordinates& from, int leg, LinkReading reading, const Boundary& boundary,
                          const ColorVector<double>& v) const;

  Extents global_;
  Stencil stencil_;
  double naik_scale_;
  std::vector<std::int64_t> sites_;
  std::map<std::int64_t, std::size_t> index_;  // of a global site among the places
  std::vector<Place> places_;
};

}  // namespace staghorn
