// What a hop reads on the device, and where the faces of its result go. Links are streamed past the caches. Neighbours
// are found by arithmetic, on this rank or in a ghost.
#pragma once

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

// The places of the faces of a vector: ghosts that are read, or places where faces are sent. Face f holds face_sites of
// direction f / 2.
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
  const void *links_here, *links_there, *in;
  const void* ghost_links[4];  // links behind the sites x_mu = 0
  Faces ghosts;                // of `in`
  Faces push;                  // where the faces of out go as well; nullptr: nowhere
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

// The place of a neighbour's vectors.
struct Neighbour {
  int hop;     // 2 mu forward, 2 mu + 1 backward: the face, where it is a ghost
  bool ghost;  // in a face of V sites, else among the V sites of its parity
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
// +-1. In fixed point links stay in their unit, and vectors are multiplied by it instead: 6 products a link, not 18.
template <class Stored, int Reals, bool Ghosts, bool Phases, Caching how = Caching::read_only, class At = Place>
struct CudaAccess {
  // With all directions unrolled, sites with ghosts would take up to 150 registers, and so would all other sites of a
  // cut lattice. Two directions at once are faster in fp32 and fp16 with more than 8 reals, and no faster otherwise.
  static constexpr int directions_at_once = !Ghosts ? 4 : sizeof(Stored) <= 4 && Reals > 8 ? 2 : 1;
  using Real = Arithmetic<Stored>;
  static constexpr Stencil stencil = Stencil::naive;
  template <LinkSet set>
  static constexpr Real third_row_unit = staghorn::third_row_unit<Stored, Reals>;
  const HopArguments& a;
  const At& place;
  const StoredVectors<Stored, how>& vectors;

  __device__ __forceinline__ bool leaves(int mu, bool forward) const {
    return Ghosts && a.sites.cut[mu] && place.at_edge(a.sites, mu, forward);
  }

  // The neighbour's index among the sites of its parity, if it is on this rank.
  __device__ __forceinline__ int neighbour(int mu, bool forward) const {
    const bool wrap = place.at_edge(a.sites, mu, forward);
    if (mu == 0) {  // of two neighbours along x one has the same index, for x / 2 counts
      if ((place.x[0] & 1) != int(forward)) return place.site;
      return stepped(place.site, 1, a.sites.strides[1], forward, wrap);
    }
    return stepped(place.site, a.sites.strides[mu], a.sites.extents[mu], forward, wrap);
  }

  // The place of a link: the lane-th of V.
  struct LinkPlace {
    const Stored* object;
    int V, lane;
  };
  __device__ __forceinline__ LinkPlace place_of_link_here(int mu) const {
    return {links_of(a.links_here, mu), a.sites.V, place.site};
  }
  __device__ __forceinline__ LinkPlace place_of_link_behind(int mu) const {
    const bool ghost = leaves(mu, false);
    return {ghost ? static_cast<const Stored*>(a.ghost_links[mu]) : links_of(a.links_there, mu),
            ghost ? a.sites.face_sites[mu] : a.sites.V, ghost ? place.in_face(a.sites, mu) : neighbour(mu, false)};
  }

  __device__ __forceinline__ Neighbour neighbour_at(int mu, bool forward) const {
    const bool ghost = leaves(mu, forward);
    return {2 * mu + (forward ? 0 : 1), ghost, ghost ? a.sites.face_sites[mu] : a.sites.V,
            ghost ? place.in_face(a.sites, mu) : neighbour(mu, forward)};
  }

  // eta_mu(x), times the boundary's sign.
  __device__ __forceinline__ Real sign(int mu, bool forward) const {
    const bool turns = place.at_edge(a.sites, mu, forward) && a.antiperiodic[2 * mu + (forward ? 0 : 1)];
    return hop_is_negative(mu, place.x, turns) ? Real(-1) : Real(1);
  }

  // Whether this hop crosses a boundary with a phase other than +-1.
  __device__ __forceinline__ bool has_phase(int mu, bool forward) const {
    return Phases && a.phase[2 * mu + (forward ? 0 : 1)] && place.at_edge(a.sites, mu, forward);
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
    return load_link(place_of_link_here(mu));
  }
  template <LinkSet set>
  __device__ __forceinline__ ColorMatrix<Real> link_behind(int mu) const {
    return load_link(place_of_link_behind(mu));
  }

  template <LinkSet set>
  __device__ __forceinline__ ColorVector<Real> vector(int mu, bool forward, int r) const {
    Real reals[6];
    vectors.load(neighbour_at(mu, forward), r, sign(mu, forward) * link_unit<Stored, Reals>, reals);
    if (has_phase(mu, forward)) turn_phase(mu, forward, reals);
    return as_vector(reals);
  }

 private:
  __device__ __forceinline__ const Stored* links_of(const void* links, int mu) const {
    return static_cast<const Stored*>(links) + std::size_t(unsigned(mu) * Reals) * unsigned(a.sites.V);
  }
  __device__ __forceinline__ ColorMatrix<Real> load_link(const LinkPlace& at) const {
    Real reals[Reals];
    load_object<Reals, Caching::streaming>(at.object, at.V, at.lane, reals);
    return link_from_reals<Stored>(reals);
  }
};

// If the site lies in faces that go somewhere, stores its vector there.
template <class Stored>
__device__ __forceinline__ void push_faces(const LocalSites& sites, const Place& place, const Faces& push, int rhs,
                                           const Arithmetic<Stored> (&v)[6]) {
#pragma unroll
  for (int face = 0; face < 8; ++face) {
    const int mu = face / 2;
    if (!push.face[face] || !place.at_edge(sites, mu, face % 2 == 1)) continue;
    const int V = sites.face_sites[mu];
    store_vector(static_cast<Stored*>(push.face[face]) + vector_offset<Stored>(rhs, V), V, place.in_face(sites, mu), v);
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
