// What a hop reads on the device, and where the faces of its result go. Links are streamed past the caches. Neighbours
// are found by arithmetic, on this rank or in a ghost.
#pragma once

#include <type_traits>

#include "dirac/algebra/link_forms.hpp"
#include "dirac/algebra/su3.hpp"
#include "dirac/fields/cuda_words.cuh"
#include "dirac/fields/step.hpp"
#include "dirac/kernels/cg_site.hpp"
#include "dirac/kernels/cuda/cuda_sites.cuh"
#include "dirac/kernels/cuda/cuda_sums.cuh"
#include "dirac/kernels/cuda/cuda_walk.cuh"
#include "dirac/kernels/kernel_calls.hpp"
#include "dirac/stencil/hop_sign.hpp"
#include "dirac/stencil/legs.hpp"

namespace staghorn::cuda {

// How many reals the links of a hop have: thin or fat ones, and Naik links (0: naive quarks).
template <int Near, int Naik = 0>
struct LinkReals {
  static constexpr Stencil stencil = Naik == 0 ? Stencil::naive : Stencil::improved;
  static constexpr int near = Near, naik = Naik;
  template <LinkSet set>
  static constexpr int of = set == LinkSet::naik ? Naik : Near;
};

// One set of links: LinkSetView as kernels get it, but for the scale.
struct LinkPointers {
  const void *here, *there;
  const void* ghosts[4];  // links behind the sites of the first slices, in the order of faces
};

// LinkSetView::scale.
struct LinkScale {
  double value;
  float in_float;
  template <class Real>
  __device__ __forceinline__ Real as() const {
    return sizeof(Real) == 8 ? Real(value) : Real(in_float);
  }
};

// The places of the faces of a vector: ghosts that are read, or places where faces are sent. Face f holds `depth` times
// face_sites of direction f / 2 (cuda_sites.cuh).
struct Faces {
  void* face[8];
};

inline Faces faces(const FacePointers& pointers) {
  Faces faces;
  for (int face = 0; face < 8; ++face) faces.face[face] = pointers[face];
  return faces;
}

struct HopArguments {
  LocalSites sites;  // of the target parity
  LinkPointers near;
  const void* in;
  Faces ghosts;  // of `in`
  Faces push;    // where the faces of out go as well; nullptr: nowhere
  void *out, *p;
  int n_rhs;
  Divisor tiles;                   // divides by the number of tiles of right-hand sides
  bool antiperiodic[8], phase[8];  // for each hop, where it leaves the global lattice
  double cosine[4], sine[4];
  double four_m2;
  const double* alpha;                    // per right-hand side, on the device, as all doubles that follow
  const double* beta;                     // nullptr: without (HopUse)
  void* x;                                // of the residual update; nullptr: without it
  const double *new_weight, *old_weight;  // with x
  const double* bound;                    // of the sums; nullptr: no sums
  SumCell* cells;                         // cells_per_sum for each right-hand side
  unsigned* taken;                        // chunks, for each tile of right-hand sides (Walk)
};

// The kernels of naive quarks get nothing of this.
struct ImprovedArguments : HopArguments {
  LinkPointers naik;
  LinkScale near_scale, naik_scale;
};
template <Stencil stencil>
using ArgumentsOf = std::conditional_t<stencil == Stencil::improved, ImprovedArguments, HopArguments>;

// The place of a neighbour's vectors.
struct Neighbour {
  int hop;     // 2 mu forward, 2 mu + 1 backward: the face, where it is a ghost
  bool ghost;  // in a face of V sites in all its slices, else among the V sites of its parity
  int V, lane;
};

// Reads neighbours: on this rank, and beyond the local lattice in ghosts.
template <class Stored, Caching how = Caching::read_only>
struct StoredVectors {
  const void* in;
  const Faces& ghosts;
  int first_rhs;

  __device__ __forceinline__ void load(const Neighbour& at, int r, Arithmetic<Stored> factor,
                                       Arithmetic<Stored> (&v)[6]) const {
    const Stored* vectors = static_cast<const Stored*>(at.ghost ? ghosts.face[at.hop] : in);
    load_vector<how>(vectors + vector_offset<Stored>(first_rhs, at.V) + vector_offset<Stored>(r, at.V), at.V, at.lane,
                     v, factor);
  }
};

// The Access of hop_kernel.hpp. Ghosts: some neighbours may lie in ghosts. Phases: some boundary has a phase other than
// +-1. In fixed point links stay in their unit, and those of improved quarks without their scale; vectors are
// multiplied by both instead: 6 products a link, not 18.
template <class Stored, class Links, bool Ghosts, bool Phases, Caching how = Caching::read_only, class At = Place>
struct CudaAccess {
  // With all directions unrolled, sites with ghosts would take up to 150 registers, and so would all other sites of a
  // cut lattice. Two directions at once are faster in fp32 and fp16 with more than 8 reals, and no faster otherwise.
  // Improved quarks have twice the legs: fp64 is fastest with one direction at once; in fp16 the instructions bind, and
  // with all directions at once there are a third fewer.
  static constexpr int directions_at_once = Links::stencil == Stencil::improved ? (Ghosts ? 1 : 8 / int(sizeof(Stored)))
                                            : !Ghosts                           ? 4
                                            : sizeof(Stored) <= 4 && Links::near > 8 ? 2
                                                                                     : 1;
  using Real = Arithmetic<Stored>;
  static constexpr Stencil stencil = Links::stencil;
  template <LinkSet set>
  static constexpr Real third_row_unit = staghorn::third_row_unit<Stored, Links::template of<set>>;
  // Where the scale of a set is 1 for certain, nothing is multiplied by it.
  template <LinkSet set>
  static constexpr bool is_scaled = stencil == Stencil::improved && (set == LinkSet::naik || is_fixed_point<Stored>);
  const ArgumentsOf<Links::stencil>& a;
  const At& place;
  const StoredVectors<Stored, how>& vectors;

  template <LinkSet set>
  __device__ __forceinline__ const LinkPointers& links() const {
    if constexpr (set == LinkSet::naik)
      return a.naik;
    else
      return a.near;
  }
  template <LinkSet set>
  __device__ __forceinline__ bool leaves(int mu, bool forward) const {
    return Ghosts && a.sites.cut[mu] && place.template at_edge<set>(a.sites, mu, forward);
  }

  // The neighbour's index among the sites of its parity, if it is on this rank.
  template <LinkSet set>
  __device__ __forceinline__ int neighbour(int mu, bool forward) const {
    const bool wrap = place.template at_edge<set>(a.sites, mu, forward);
    if constexpr (set == LinkSet::naik)
      if (mu == 0) return stepped_along_x<steps_of(set)>(place.site, place.x[0], a.sites.extents[0], forward, wrap);
    if (mu == 0) {  // of two neighbours along x one has the same index, for x / 2 counts
      if ((place.x[0] & 1) != int(forward)) return place.site;
      return stepped(place.site, 1, a.sites.strides[1], forward, wrap);
    }
    return stepped<steps_of(set)>(place.site, a.sites.strides[mu], a.sites.extents[mu], forward, wrap);
  }

  // The neighbour's index among the sites of a face, if it is on another rank.
  template <LinkSet set>
  __device__ __forceinline__ int in_face(int mu, bool forward) const {
    const int index = place.in_face(a.sites, mu);
    if constexpr (steps_of(set) == 1) return index;
    return slice_beyond(place.coordinate(mu), a.sites.extents[mu], forward, steps_of(set)) * a.sites.face_sites[mu] +
           index;
  }

  // The place of a link: the lane-th of V.
  struct LinkPlace {
    const Stored* object;
    int V, lane;
  };
  template <LinkSet set>
  __device__ __forceinline__ LinkPlace place_of_link_here(int mu) const {
    return {links_of<set>(links<set>().here, mu), a.sites.V, place.site};
  }
  // The links behind fill one slice for each step.
  template <LinkSet set>
  __device__ __forceinline__ LinkPlace place_of_link_behind(int mu) const {
    const bool ghost = leaves<set>(mu, false);
    return {ghost ? static_cast<const Stored*>(links<set>().ghosts[mu]) : links_of<set>(links<set>().there, mu),
            ghost ? steps_of(set) * a.sites.face_sites[mu] : a.sites.V,
            ghost ? link_in_face<set>(mu) : neighbour<set>(mu, false)};
  }

  template <LinkSet set>
  __device__ __forceinline__ Neighbour neighbour_at(int mu, bool forward) const {
    const bool ghost = leaves<set>(mu, forward);
    return {2 * mu + (forward ? 0 : 1), ghost, ghost ? depth_of(stencil) * a.sites.face_sites[mu] : a.sites.V,
            ghost ? in_face<set>(mu, forward) : neighbour<set>(mu, forward)};
  }

  // eta_mu(x), times the boundary's sign.
  template <LinkSet set>
  __device__ __forceinline__ Real sign(int mu, bool forward) const {
    const bool turns = place.template at_edge<set>(a.sites, mu, forward) && a.antiperiodic[2 * mu + (forward ? 0 : 1)];
    return hop_is_negative(mu, place.x, turns) ? Real(-1) : Real(1);
  }
  // What a neighbour's vector is multiplied by, but for the sign.
  template <LinkSet set>
  __device__ __forceinline__ Real factor() const {
    constexpr Real unit = link_unit<Stored, Links::template of<set>>;
    if constexpr (!is_scaled<set>)
      return unit;
    else
      return (set == LinkSet::naik ? a.naik_scale : a.near_scale).template as<Real>() * unit;
  }

  // Whether this hop crosses a boundary with a phase other than +-1.
  template <LinkSet set>
  __device__ __forceinline__ bool has_phase(int mu, bool forward) const {
    return Phases && a.phase[2 * mu + (forward ? 0 : 1)] && place.template at_edge<set>(a.sites, mu, forward);
  }
  __device__ __forceinline__ void turn_phase(int mu, bool forward, Real (&reals)[6]) const {
    const Real cosine = Real(a.cosine[mu]), sine = Real(forward ? a.sine[mu] : -a.sine[mu]);
#pragma unroll
    for (int c = 0; c < 3; ++c) {
      const Real re = reals[2 * c], im = reals[2 * c + 1];
      reals[2 * c] = multiply_add(-sine, im, cosine * re);
      reals[2 * c + 1] = multiply_add(sine, re, cosine * im);
    }
  }

  template <LinkSet set>
  __device__ __forceinline__ ColorMatrix<Real> link_here(int mu) const {
    return load_link<set>(place_of_link_here<set>(mu));
  }
  template <LinkSet set>
  __device__ __forceinline__ ColorMatrix<Real> link_behind(int mu) const {
    return load_link<set>(place_of_link_behind<set>(mu));
  }

  template <LinkSet set>
  __device__ __forceinline__ ColorVector<Real> vector(int mu, bool forward, int r) const {
    Real reals[6];
    vectors.load(neighbour_at<set>(mu, forward), r, sign<set>(mu, forward) * factor<set>(), reals);
    if (has_phase<set>(mu, forward)) turn_phase(mu, forward, reals);
    return as_vector(reals);
  }

 private:
  template <LinkSet set>
  __device__ __forceinline__ const Stored* links_of(const void* links, int mu) const {
    return static_cast<const Stored*>(links) +
           std::size_t(unsigned(mu) * Links::template of<set>) * unsigned(a.sites.V);
  }
  // The place among the ghosts of the link behind: the slice of the target, for links are sent in that order.
  template <LinkSet set>
  __device__ __forceinline__ int link_in_face(int mu) const {
    const int index = place.in_face(a.sites, mu);
    if constexpr (steps_of(set) == 1) return index;
    return place.coordinate(mu) * a.sites.face_sites[mu] + index;
  }
  template <LinkSet set>
  __device__ __forceinline__ ColorMatrix<Real> load_link(const LinkPlace& at) const {
    Real reals[Links::template of<set>];
    load_object<Links::template of<set>, Caching::streaming>(at.object, at.V, at.lane, reals);
    return link_from_reals<Stored>(reals);
  }
};

// If the site lies in faces that go somewhere, stores its vector there. depth: slices of a face, where it is known when
// this is compiled; else 0.
template <class Stored, int depth>
__device__ __forceinline__ void push_faces(const LocalSites& sites, const Place& place, const Faces& push, int rhs,
                                           const Arithmetic<Stored> (&v)[6]) {
#pragma unroll
  for (int face = 0; face < 8; ++face) {
    const int mu = face / 2;
    if (!push.face[face] || (depth == 1 && !place.at_edge(sites, mu, face % 2 == 1))) continue;
    int V = sites.face_sites[mu], first = 0;
    if constexpr (depth != 1) {
      const int slices = depth > 0 ? depth : sites.depth;
      const int slice = face % 2 == 0 ? place.coordinate(mu) : sites.extents[mu] - 1 - place.coordinate(mu);
      if (slice >= slices) continue;
      first = slice * V;
      V *= slices;
    }
    store_vector(static_cast<Stored*>(push.face[face]) + vector_offset<Stored>(rhs, V), V,
                 first + place.in_face(sites, mu), v);
  }
}

// What a site contributes to the sum of |v|^2, in double.
template <class Real>
__device__ __forceinline__ double contribution(const Real (&v)[6]) {
  double wide[6];
#pragma unroll
  for (int k = 0; k < 6; ++k) wide[k] = double(v[k]);
  return site_norm2(wide);
}

}  // namespace staghorn::cuda
