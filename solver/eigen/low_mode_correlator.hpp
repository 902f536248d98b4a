// Pion correlators whose low part is averaged over all sources of the lattice ("low-mode averaging").
// [DeGrand & Schaefer, Comput. Phys. Commun. 159 (2004) 185; Giusti et al., JHEP 0404 (2004) 013]
//
// Eigenvectors v of K = -D^2 on even sites, and D v on odd ones, hold the low part of G = M^-1, M = 2m + D:
//   y even   G_low(x, y) = sum_i (2m v_i - D v_i)(x) v_i(y)^dagger / (lambda_i + 4m^2)
//   y odd    G_low(x, y) = sum_i (2m D v_i / lambda_i + v_i)(x) (D v_i)(y)^dagger / (lambda_i + 4m^2)
// With the products of two vectors on a time slice, and e, o, the same products at the site y alone,
//   E_ij(t) = sum v_i^dagger v_j over even x,   O_ij(t) = sum (D v_i)^dagger (D v_j) over odd x,
//   F_ij(y, t) = e^* (4m^2 E(t) + O(t)) + o^* (E(t) + 4m^2 O(t) / (lambda_i lambda_j)),
// a source y has sum_x |G_low(x, y)|^2 = sum_ij Re F_ij(y, t) / ((lambda_i + 4m^2) (lambda_j + 4m^2)), colours summed,
// and the mean over all y of a slice has E / V, O / V of that slice in place of e, o.
//
// Of the correlator of a point its own low part goes, and the mean of that over all sources of the lattice comes, each
// moved to the time slice of the point. The mean of correlators over sources stays what it is, whatever the vectors
// are. A pair with lambda = 0 has no partner on odd sites: it has no last term.
#pragma once

#include <cstdint>
#include <vector>

#include "dirac/algebra/su3.hpp"
#include "dirac/stencil/boundary.hpp"
#include "dirac/stencil/operator_links.hpp"
#include "solver/eigen/eigenpairs.hpp"

namespace staghorn {

class LowModeCorrelator {
 public:
  // Computes everything. `links` are uncompressed; they lie on the host or where the vectors lie. `points` are the
  // sources that the other functions are asked for. K pairs take K (K / 64 + 1/2) plain hops, and K^2 / 2 products of
  // two fields on the host, in fp64; sums over sites are exact. Collective.
  LowModeCorrelator(const Communicator& communicator, const OperatorLinks& links, const Boundary& boundary,
                    const Eigenpairs& pairs, std::vector<double> masses, std::vector<Coordinates> points);

  // Plain fields that the constructor makes on the host, beside the pairs, and frees again. Local.
  static std::int64_t fields(std::int64_t pairs);

  // The low part of C(t), t = 0 .. T-1, of a point: the mean over all sources. `mass` is a place in the list. Local.
  std::vector<double> part(std::size_t mass, const Coordinates& point) const;
  // C(t) of the point with that in place of its own low part. Local.
  std::vector<double> improve(std::vector<double> correlator, std::size_t mass, const Coordinates& point) const;

 private:
  // E_ij(t) and O_ij(t), and of each point the product at its site.
  struct Products {
    std::vector<Complex<double>> even, odd, points;
  };
  void add(std::size_t i, std::size_t j, const Products& products);
  std::size_t place_of(const Coordinates& point) const;

  Parity parity_;  // called even above
  std::size_t extent_;
  double volume_;
  std::vector<double> values_, masses_;
  std::vector<Coordinates> points_;
  std::vector<std::vector<double>> mean_;  // [mass][t - t of the source]
  std::vector<std::vector<double>> own_;   // [mass * points + point][t]
};

}  // namespace staghorn
