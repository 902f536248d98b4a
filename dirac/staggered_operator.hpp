// The staggered operator D on the local lattice: its parity-changing hop, with faces in flight while interior sites
// are computed, and the positive operator A = 4 m^2 - D^2 on one parity.
//
// D a(x) = sum_mu eta_mu(x) [ U_mu(x) a(x+mu) - U_mu(x-mu)^dagger a(x-mu) ]   [Kim & Lee, Lattice 2010]
#pragma once

#include <memory>
#include <vector>

#include "dirac/boundary.hpp"
#include "dirac/color_vector_field.hpp"
#include "dirac/exact_sum.hpp"
#include "dirac/precision.hpp"
#include "dirac/site_field.hpp"
#include "halo/communicator.hpp"

namespace staghorn {

struct HopTimes {  // seconds since the last reset, this rank
  double pack = 0, interior = 0, wait = 0, boundary = 0, sums = 0;
};

class StaggeredOperator {
 public:
  // Packs `links` (row12 keeps two rows: they must be in SU(3) to the precision the answer needs), fetches the ghost
  // links, sets up the face messages for vectors of `n_rhs` right-hand sides. Collective.
  StaggeredOperator(const Communicator& communicator, const LinkField& links, const Boundary& boundary,
                    Precision precision, Reconstruct reconstruct, int n_rhs);
  ~StaggeredOperator();

  const Communicator& communicator() const;
  const SiteLayout& layout() const;
  const Lattice& lattice() const;
  Precision precision() const;
  Reconstruct reconstruct() const;
  int n_rhs() const;
  std::int64_t link_bytes() const;  // this rank
  std::int64_t halo_bytes() const;  // face and ghost buffers, neighbour tables, this rank
  std::string transport() const;    // "self" or "mpi"
  const HopTimes& times() const;
  void reset_times();

  ColorVectorField make_vector() const;

  // out(target) = D in, where `in` lives on the opposite parity. 570 flop a site (counting the reals of 8 complex
  // 3x3 products and 7 sums). Collective.
  void hop(ColorVectorField& out, const ColorVectorField& in, Parity target);
  // The same, and the exact |out|^2 of every right-hand side (n_rhs numbers). Collective.
  std::vector<double> hop_and_norm2(ColorVectorField& out, const ColorVectorField& in, Parity target,
                                    ExactSum& sum);

 private:
  friend class NormalOperator;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace staghorn
