// The links of this rank and those of its neighbours around them, corners too, for sums over paths of any shape.
#pragma once

#include <cstdint>
#include <vector>

#include "dirac/fields/site_field.hpp"
#include "halo/communicator.hpp"

namespace staghorn {

// This rank's sites, and `depth` slices more on either side of each direction that is cut among ranks. Places are
// numbered lexicographically; where nothing is cut they are the sites.
class Rims {
 public:
  // `depth` is 1 or 2, which no part is shorter than. Throws Error for 2^31 places or more. Local.
  Rims(const Lattice& lattice, int depth);

  const Lattice& lattice() const { return lattice_; }
  bool any() const { return places_ != lattice_.local_volume(); }
  int rim(int mu) const { return rim_[mu]; }
  int extent(int mu) const { return extents_[mu]; }
  std::int64_t places() const { return places_; }
  std::int64_t place(std::int64_t site) const;
  // Of each place: x+mu for the four mu, then x-mu. At the end of a rim this goes round, to a place that is not used.
  const std::int32_t* steps() const { return steps_.data(); }

 private:
  Lattice lattice_;
  int rim_[4];
  Extents extents_;
  std::int64_t places_;
  std::vector<std::int32_t> steps_;
};

// Where links and their neighbours are, for link_paths.hpp.
struct LinkView {
  const Links* links;
  const std::int32_t* steps;

  const ColorMatrix<double>& link(std::int64_t place, int mu) const { return links[place][std::size_t(mu)]; }
  std::int64_t ahead(std::int64_t place, int mu) const { return steps[8 * place + mu]; }
  std::int64_t behind(std::int64_t place, int mu) const { return steps[8 * place + 4 + mu]; }
};

// Links with their rims, as they are when this is made. Reads a field in place where it is not cut; a copy has the
// rims of the others' links. `rims` and `links` must outlive it. Collective.
class RimmedLinks {
 public:
  RimmedLinks(const Communicator& communicator, const Rims& rims, const LinkField& links);
  LinkView view() const { return {copy_.empty() ? links_->data() : copy_.data(), rims_->steps()}; }

 private:
  const Rims* rims_;
  const LinkField* links_;
  std::vector<Links> copy_;
};

}  // namespace staghorn
