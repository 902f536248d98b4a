// How links and vectors of a host program lie in memory, and what is multiplied into them: plain data and checks.
//
// The structs say the same as staghorn_links and staghorn_vectors in staghorn.h, without generation.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dirac/gauge/link_phases.hpp"
#include "dirac/stencil/boundary.hpp"
#include "halo/buffer.hpp"
#include "solver/interface/layouts/field_bytes.hpp"
#include "solver/interface/layouts/places.hpp"

namespace staghorn {

enum class HostReal : int { fp64 = 0, fp32 = 1 };  // the numbers of STAGHORN_FP64, STAGHORN_FP32
constexpr std::int64_t bytes_of(HostReal real) { return real == HostReal::fp64 ? 8 : 4; }

// Links of a host.
struct HostLinks {
  SiteOrder order = SiteOrder::lex;
  HostReal real = HostReal::fp64;
  LinkPhases phases = LinkPhases::none;  // multiplied into the links
  bool as_given = false;         // the links carry what they carry: eta = 1, theta = 0; `phases` is not looked at
  bool boundary_in = false;      // exp(i pi theta) is multiplied into the links that cross the boundary
  bool dagger = false;           // stored as U^dagger, phases and boundary included; STAG orders imply it
  std::int64_t site_stride = 0;  // bytes; of [mu][site] orders from link to link; 0: packed
  std::int64_t link_offset = 0;  // bytes from the start of a site to its first link
  Boundary boundary{};           // of D
  std::array<double, 4> scale{1, 1, 1, 1};  // links of a direction are multiplied by it after they are read
  MemorySpace space = MemorySpace::host;    // where the buffers lie
  int steps = 1;                            // a link leads over so many sites: 3 of long links
};

// Vectors of a host.
struct HostVectors {
  SiteOrder order = SiteOrder::lex;
  HostReal real = HostReal::fp64;
  bool half = false;                      // the buffer holds the sites of one parity only
  std::int64_t site_stride = 0;           // bytes; 0: packed
  MemorySpace space = MemorySpace::host;  // where the buffer lies
};

// Bytes between neighbouring sites or, of [mu][site] orders, links.
std::int64_t stride_of(const HostLinks& links);
std::int64_t stride_of(const HostVectors& vectors);

// Where the numbers of a layout lie, and what is multiplied into links. `local`: local extents. Local.
LinkView view_of(const HostLinks& links, const Lattice& lattice);
VectorPlaces places_of(const HostVectors& vectors, const Extents& local);

// Throw Error, naming the field of the struct, where strides and offsets do not hold what they should, where an order
// has no half fields, or where theta or scale is not a finite number. Local.
void check_layout(const HostLinks& links);
void check_layout(const HostVectors& vectors);

// Bytes of each buffer that a layout describes, to the end of its last site. `local`: local extents.
std::int64_t buffer_bytes(const HostLinks& links, const Extents& local);
std::int64_t buffer_bytes(const HostVectors& vectors, const Extents& local);

// Which bytes a field at `at` occupies: of vectors those of `sites`, nothing: of all sites; of links those of one
// buffer.
FieldBytes bytes_of(const HostVectors& vectors, const Extents& local, std::optional<Parity> sites, const void* at);
FieldBytes bytes_of(const HostLinks& links, const Extents& local, const void* at);

// theta is a whole number: its boundary phase is a sign, which can be taken out of links exactly.
bool is_sign(double theta);
bool is_odd(double theta);  // that sign is -1

// Signs of local sites that were found in links as given. A GPU gets a copy when it first asks.
class FoundSigns {
 public:
  // nullptr of none.
  static std::shared_ptr<const FoundSigns> of(std::vector<signed char> signs) {
    return signs.empty() ? nullptr : std::make_shared<const FoundSigns>(std::move(signs));
  }
  explicit FoundSigns(std::vector<signed char> signs) : here_(std::move(signs)) {}
  const signed char* in(MemorySpace space) const;

 private:
  std::vector<signed char> here_;
  mutable Buffer there_;
};

// How a host's vectors differ from ours: host(x) = factor sign(x) ours(x). `factor` is a power of two, so that nothing
// is rounded.
struct VectorSigns {
  LinkPhases phases = LinkPhases::cps;      // the convention of the host's system
  std::shared_ptr<const FoundSigns> found;  // further signs of local sites, of links as given; nullptr: none
  bool alternating = false;                 // (-1)^(x+y+z+t): turns 2m + D into 2m - D
  double factor = 1;

  // The same as plain data, with `found` in this memory.
  SiteSigns view(MemorySpace space = MemorySpace::host) const {
    return {phases, found ? found->in(space) : nullptr, alternating, factor};
  }
  double at(std::int64_t site, const Coordinates& x) const { return view().at(site, x); }
};

}  // namespace staghorn
