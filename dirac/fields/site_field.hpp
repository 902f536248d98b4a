// Plain double-precision fields in lexicographic site order. Files hold them, sources and solutions are exchanged in
// them, and the slow, readable side of the code (observables, heatbath, certificate) works on them. The solver packs
// them into fields of its own.
#pragma once

#include <array>
#include <type_traits>
#include <utility>
#include <vector>

#include "dirac/algebra/su3.hpp"
#include "halo/buffer.hpp"
#include "halo/communicator.hpp"
#include "halo/lattice.hpp"

namespace staghorn {

// Starts as zeros. Each thread touches its part of the memory first (Buffer). A field in the memory of a GPU is read
// and written by kernels alone: its sites are no use to the host, and functions that take such fields say so.
template <class Site>
class SiteField {
  static_assert(std::is_trivially_copyable_v<Site>);

 public:
  explicit SiteField(const Lattice& lattice, MemorySpace space = MemorySpace::host)
      : lattice_(lattice), sites_(std::size_t(lattice.local_volume()) * sizeof(Site), space) {}
  // The sites at `sites`, in the order of operator[], which must outlive the field. A copy has memory of its own.
  static SiteField view(const Lattice& lattice, Site* sites, MemorySpace space = MemorySpace::host) {
    const std::size_t bytes = std::size_t(lattice.local_volume()) * sizeof(Site);
    return SiteField(lattice, Buffer::view(reinterpret_cast<std::byte*>(sites), bytes, space));
  }
  SiteField(const SiteField& other) : SiteField(other, other.space()) {}
  // A copy in any space.
  SiteField(const SiteField& other, MemorySpace space) : lattice_(other.lattice_), sites_(other.sites_.bytes(), space) {
    sites_.copy_from(other.sites_);
  }
  SiteField(SiteField&&) = default;
  // Copies the numbers. A field of the same size stays in its space.
  SiteField& operator=(const SiteField& other) {
    if (sites_.bytes() != other.sites_.bytes()) return *this = SiteField(other);
    lattice_ = other.lattice_;
    sites_.copy_from(other.sites_);
    return *this;
  }
  SiteField& operator=(SiteField&&) = default;

  const Lattice& lattice() const { return lattice_; }
  MemorySpace space() const { return sites_.space(); }
  // Local lexicographic site index, x fastest (Lattice::site_index).
  Site& operator[](std::int64_t site) { return data()[site]; }
  const Site& operator[](std::int64_t site) const { return data()[site]; }
  std::int64_t size() const { return bytes() / std::int64_t(sizeof(Site)); }
  Site* data() { return reinterpret_cast<Site*>(sites_.data()); }
  const Site* data() const { return reinterpret_cast<const Site*>(sites_.data()); }
  std::int64_t bytes() const { return std::int64_t(sites_.bytes()); }

 private:
  SiteField(const Lattice& lattice, Buffer sites) : lattice_(lattice), sites_(std::move(sites)) {}

  Lattice lattice_;
  Buffer sites_;
};

using Links = std::array<ColorMatrix<double>, 4>;    // U_mu(x), mu = x, y, z, t; 4 x 3 x 3 complex, row-major
using LinkField = SiteField<Links>;                  // 576 bytes a site
using VectorField = SiteField<ColorVector<double>>;  // 48 bytes a site
using MatrixField = SiteField<ColorMatrix<double>>;  // 144 bytes a site
using LinkScalars = std::array<Complex<double>, 4>;  // a number for each link of a site

// The local sites of one slice x[mu] = const, lexicographically: slice[i] is the site index of the i-th of size(). Two
// slices of the same mu have their sites in the same order. Local.
class Slice {
 public:
  Slice(const Lattice& lattice, int mu, int x_mu);
  std::int64_t size() const { return size_; }
  std::int64_t operator[](std::int64_t i) const { return (i / stride_ * extent_ + x_mu_) * stride_ + i % stride_; }

 private:
  std::int64_t stride_ = 1, extent_, x_mu_, size_;
};

// Returns the slice of this rank that another rank needs for a step in `direction` along mu: the first slice for +1,
// the last for -1; `depth` slices further in, for longer steps. Local.
Slice outgoing_slice(const Lattice& lattice, int mu, int direction, int depth = 0);

// Sends `outgoing`, the sites of this rank's outgoing_slice, to the rank behind, and returns what the rank one step in
// `direction` along mu sends. One Site for each site of the slice. Collective.
template <class Site>
std::vector<Site> exchange_face(const Communicator& communicator, const Lattice& lattice, int mu, int direction,
                                const std::vector<Site>& outgoing);

// The sites `steps` away: neighbour[x] = field(x + direction * steps * mu), periodic over the global lattice. Reads the
// field in place; only the slices that another rank holds are fetched, once, when the view is made (collective). So
// where mu is cut these slices are a snapshot: make a new view after changing the field. `field` must outlive the view.
// `steps` is at most the local extent. Of a field on a GPU only the sites beyond the first or last slices of this rank
// can be read. Access is local.
template <class Site>
class NeighbourSites {
 public:
  NeighbourSites(const Communicator& communicator, const SiteField<Site>& field, int mu, int direction, int steps = 1);
  const Site& operator[](std::int64_t site) const {
    const std::int64_t outer = site / stride_, x = outer % extent_;
    const std::int64_t beyond = direction_ > 0 ? x + steps_ - extent_ : steps_ - 1 - x;  // slices behind the rim
    if (beyond < 0) return (*field_)[site + direction_ * stride_ * steps_];
    if (ghosts_.empty()) return (*field_)[site + direction_ * stride_ * (steps_ - extent_)];
    return ghosts_[std::size_t(beyond)][std::size_t(outer / extent_ * stride_ + site % stride_)];
  }

 private:
  const SiteField<Site>* field_;
  std::int64_t stride_ = 1, extent_;
  int direction_, steps_;
  std::vector<std::vector<Site>> ghosts_;  // slice by slice, the nearest first
};

// The field moved by one site: result(x) = field(x + direction * mu), periodic over the global lattice.
// Collective where mu is cut among ranks. direction is +1 or -1.
template <class Site>
SiteField<Site> shifted(const Communicator& communicator, const SiteField<Site>& field, int mu, int direction);

}  // namespace staghorn
