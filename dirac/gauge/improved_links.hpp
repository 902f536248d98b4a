// The links of improved staggered quarks, from thin links: fat links F (one step) and Naik links N (three steps) of
//
//   D a(x) = sum_mu eta_mu(x) [ F_mu(x) a(x+mu) - F_mu(x-mu)^dagger a(x-mu)
//                             + c_N { N_mu(x) a(x+3mu) - N_mu(x-3mu)^dagger a(x-3mu) } ]
//
//   asqtad   F, N from U                            [Orginos, Toussaint & Sugar, Phys. Rev. D 60 (1999) 054503]
//   HISQ     V = Fat7(U), W = V (V^dagger V)^(-1/2), F, N from W    [Follana et al., Phys. Rev. D 75 (2007) 054502]
//
// N_mu(x) = W_mu(x) W_mu(x+mu) W_mu(x+2mu) is stored without its coefficient c_N (so that it stays unitary). Staggered
// phases and the boundary condition are in no link: the operator applies them. Links are fp64 LinkFields, in lattice
// units; every link is computed in one order, so its bits depend on no process grid, no number of threads and no
// device.
#pragma once

#include <cstdint>
#include <limits>

#include "dirac/fields/site_field.hpp"
#include "halo/communicator.hpp"

namespace staghorn {

enum class Unitarize { u3, su3 };  // W in U(3), as MILC has it, or in SU(3), as Chroma has it

// Weights of the path sums of one level of smearing: one link, the 3-, 5- and 7-link staples (6, 24 and 48 paths), and
// Lepage's straight 5-link path (6).
struct SmearingWeights {
  double one = 1, three = 0, five = 0, seven = 0, lepage = 0;
};

SmearingWeights fat7_weights();                // level 1 of HISQ; they sum to 1
SmearingWeights hisq_weights(double epsilon);  // level 2 of HISQ
SmearingWeights asqtad_weights(double u0);     // tadpole factor u0 > 0
double hisq_naik_weight(double epsilon);       // c_N = -(1 + epsilon) / 24
double asqtad_naik_weight(double u0);          // c_N = -1 / (24 u0^2)

struct ImprovedLinks {
  LinkField fat, naik;     // naik without its weight
  double naik_weight = 0;  // c_N
  // Of V over the lattice, HISQ only: the smallest singular value and |det|.
  double smallest_singular = 1, smallest_determinant = 1;
  double device_seconds = 0;  // of this rank's GPU and the messages between ranks, where links were made there
};

// The weighted sum of paths around each link. Some 65 kflop a site. Collective.
LinkField smeared_links(const Communicator& communicator, const LinkField& links, const SmearingWeights& weights);

// N_mu(x) = U_mu(x) U_mu(x+mu) U_mu(x+2mu). Collective.
LinkField three_link_products(const Communicator& communicator, const LinkField& links);

// Every link replaced by the nearest matrix in U(3), or in SU(3). Returns the smallest singular value and the smallest
// |det| that were met. Throws Error naming site, direction and singular values of a link that has none. Collective.
struct ProjectionReport {
  double smallest_singular, smallest_determinant;
};
ProjectionReport project_links(const Communicator& communicator, LinkField& links, Unitarize unitarize);

// What this rank met as it projected its links, and what all ranks make of it: the report, or the Error.
struct ProjectionExtremes {
  double singular = std::numeric_limits<double>::infinity(), determinant = singular;  // the smallest
  std::int64_t bad_link = -1;  // 4 site + direction of the first link that has no projection
  double bad[3] = {};          // its singular values
};
ProjectionReport agree_on_projection(const Communicator& communicator, const Lattice& lattice,
                                     const ProjectionExtremes& met);

// Where links are made: on the GPU of each rank, or, where a rank has none (-1) or too little of its memory is free, on
// the host. The same on all ranks. Collective.
MemorySpace space_for_links(const Communicator& communicator, const Lattice& lattice, int cuda_device);
// The same for work that takes so many bytes on this rank's GPU.
MemorySpace space_for_bytes(const Communicator& communicator, double bytes, int cuda_device);

// The links of an action. `where` they are computed: by the host's threads, or on the selected GPU. `thin` and the
// result lie on the host either way. Throw Error for a u0 or epsilon that is no number, and as project_links does.
// Collective.
ImprovedLinks asqtad_links(const Communicator& communicator, const LinkField& thin, double u0,
                           MemorySpace where = MemorySpace::host);
// F(epsilon) = F(0) + (epsilon / 8) W.
ImprovedLinks hisq_links(const Communicator& communicator, const LinkField& thin, double epsilon, Unitarize unitarize,
                         MemorySpace where = MemorySpace::host);

}  // namespace staghorn
