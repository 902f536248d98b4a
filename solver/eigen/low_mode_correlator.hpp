// Pion correlators whose low part is averaged over all translates of the source ("low-mode averaging").
// [DeGrand & Schaefer, Comput. Phys. Commun. 159 (2004) 185; Giusti et al., JHEP 0404 (2004) 013]
//
// Eigenvectors v of K = -D^2 on even sites, and D v on odd ones, hold the low part of G = M^-1, M = 2m + D. Of a source
// s in one colour,
//   G_low s = sum_i ((2m a_i + b_i) v_i + (2m b_i / lambda_i - a_i) D v_i) / (lambda_i + 4m^2),
//   a_i = v_i^dagger s,  b_i = (D v_i)^dagger s.
// With the products of two vectors on a time slice and, colours summed, those of what the source has of them,
//   E_ij(t) = sum v_i^dagger v_j over even x,  O_ij(t) = sum (D v_i)^dagger (D v_j) over odd x,
//   A_ij = a_i^* a_j,  B_ij = b_i^* b_j,  X_ij = a_i^* b_j,
// the low part of its correlator is
//   sum_x |G_low s|^2 = sum_ij Re (P_ij E_ij(t) + Q_ij O_ij(t)) / ((lambda_i + 4m^2) (lambda_j + 4m^2)),
//   P_ij = 4m^2 A_ij + B_ij + 2m (X_ij + X_ji^*),
//   Q_ij = A_ij + 4m^2 B_ij / (lambda_i lambda_j) - 2m (X_ij / lambda_j + X_ji^* / lambda_i).
// A source on one parity has X = 0 and one of A, B. The mean over the points of time slice t has A = E(t)^* / V_3,
// B = O(t)^* / V_3, X = 0, with the volume V_3 of a slice. A pair with lambda = 0 has no partner on odd sites: its
// 1 / lambda is 0.
//
// Of the correlator of a source its own low part goes, and the mean of that over all translates comes, each moved to
// the time slice of the source. The translates of a point are all points of the lattice, those of a wall the walls of
// its kind at every t. The mean of correlators over translates stays what it is, whatever the vectors are.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "dirac/algebra/su3.hpp"
#include "dirac/stencil/boundary.hpp"
#include "dirac/stencil/operator_links.hpp"
#include "solver/eigen/eigenpairs.hpp"
#include "solver/request/solve_request.hpp"
#include "solver/request/sources.hpp"

namespace staghorn {

class LowModeCorrelator {
 public:
  // Computes everything. `links` are uncompressed; they lie on the host or where the vectors lie. `sources` are the
  // points and walls, in all three colours and in these phases, that the other functions are asked for. K pairs take
  // K (K / 64 + 1/2) plain hops, and K^2 / 2 products of two fields on the host, in fp64; sums over sites are exact.
  // Collective.
  LowModeCorrelator(const Communicator& communicator, const OperatorLinks& links, const Boundary& boundary,
                    const Eigenpairs& pairs, std::vector<double> masses, PhaseConvention phases,
                    const std::vector<SourceSpec>& sources);

  // Plain fields that the constructor makes on the host, beside the pairs, and frees again. Local.
  static std::int64_t fields(std::int64_t pairs);

  // The low part of C(t), t = 0 .. T-1, of a source: the mean over its translates. `mass` is a place in the list.
  // Local.
  std::vector<double> part(std::size_t mass, const SourceSpec& source) const;
  // C(t) of the source with that in place of its own low part. Local.
  std::vector<double> improve(std::vector<double> correlator, std::size_t mass, const SourceSpec& source) const;

 private:
  using Products = std::vector<Complex<double>>;

  // A^*, B^*, X_ij^* and X_ji of a source.
  struct SourceProducts {
    Complex<double> even, odd, cross, cross_back;
  };
  void add(std::size_t i, std::size_t j, const Products& even, const Products& odd,
           const std::vector<SourceProducts>& sources);
  std::size_t place_of(const SourceSpec& source) const;
  std::vector<double>& curve(std::size_t mass, std::size_t place) { return curves_[mass * n_places_ + place]; }
  const std::vector<double>& curve(std::size_t mass, std::size_t place) const {
    return curves_[mass * n_places_ + place];
  }

  std::size_t extent_;
  std::vector<double> values_, masses_;
  std::vector<SourceSpec> sources_;               // walls of each kind at all t, then points
  std::map<SourceKind, std::size_t> translates_;  // the place of the first of the T translates of each kind
  std::size_t n_places_;                          // sources_, then the mean points of all t if there are points
  std::vector<std::vector<double>> curves_;       // [mass * n_places_ + place][t], low parts of their own
};

}  // namespace staghorn
