// The lowest eigenpairs of K = -D^2 on one parity by thick-restart Lanczos [Wu & Simon, SIAM J. Matrix Anal. Appl. 22
// (2000) 602] on a Chebyshev polynomial of K, with full reorthogonalisation and a probe for pairs that were missed.
//
//   basis v_0 ... v_{m-1}, orthonormal;  T v_j = sum_i v_i H_ij + sum_a u_a B_aj,  with B_aj = 0 but for the last j
//   H = S diag(theta) S^dagger;  Ritz vectors y_i = sum_j v_j S_ji,  |T y_i - theta_i y_i| = |column i of B S|
//   restart: v_0 ... v_{k-1} <- the Ritz vectors of the largest theta; the next vectors are u_0, u_1, ...
//
// T is applied to all u of a block at once, which shares links and reads the basis once for all of them. A block needs
// somewhat more vectors than single ones (docs/eigenpairs.md) [Golub & Underwood, The block Lanczos method (1977)].
//
// T is at most 1 on the interval of the polynomial and larger below it. So a Ritz value theta > 1 belongs to an
// eigenvalue lambda below the interval, and |K y - lambda y| <= |T y - theta y| (to - lambda) / (theta - 1). There are
// at least as many eigenvalues below the interval as Ritz values above 1: so the interval is known to be right, and
// where no more Ritz values appear it is widened.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "solver/eigen/chebyshev_filter.hpp"
#include "solver/eigen/eigenpairs.hpp"
#include "solver/eigen/lanczos_basis.hpp"
#include "solver/eigen/spectral_range.hpp"
#include "solver/search/search_keeper.hpp"

namespace staghorn {

struct LanczosAim {
  int pairs = 1;
  double residual = 0;         // |K v - lambda v| to reach, in lattice units
  long max_calls = 0;          // applications of K, those of the range included
  std::uint64_t seed = 1;      // of the random vectors
  std::optional<double> from;  // where the interval of the polynomial begins at first; absent: found from the range
  std::optional<int> degree;   // of the polynomial; absent: found
  // If set, the search hands over its state when asked to, and goes on from a state that is kept. The range is not a
  // part of it.
  SearchKeeper* keeper = nullptr;
  // If set and true, on all ranks alike: the search ends as if the calls were used up.
  const bool* interrupted = nullptr;
};

// incomplete: the probe found pairs that are missing, and the calls do not suffice to add them.
enum class LanczosEnd { complete, incomplete, out_of_calls };

struct LanczosCounts {
  long calls = 0;     // applications of K: of the range, of T, and half a one for each eigenvalue at the end
  long filtered = 0;  // vectors to which T was applied
  int restarts = 0;
  int widened = 0;         // times that the interval was widened
  int random_vectors = 0;  // drawn where the vectors so far reached no further, and to probe
  int probes = 0, found_missing = 0;
  int converged = 0;  // pairs whose residual estimate reaches the aim
  void visit(const Archive& archive);
};

class LanczosSearch {
 public:
  // `range` of K on `parity`. Makes the basis: basis_size + block_size vectors, and at restarts up to as many more, and
  // four blocks. `d` has one right-hand side, `d_of_block` block_size of them (for one it may be `d`), both in fp64 or
  // fp32 on the same links; they outlive the search, as `range` does. Collective.
  LanczosSearch(StaggeredOperator& d, StaggeredOperator& d_of_block, Parity parity, const SpectralRange& range,
                const LanczosAim& aim);

  // Vectors to which T is applied at once: 1, 2, 4 or 8; at most a 16th of the pairs, and a 64th in a small space,
  // whose vectors and links lie in caches.
  static int block_size(int pairs, std::int64_t dimension);

  // Half as many vectors again as pairs; at most 1500 and the dimension of the space.
  static int basis_size(int pairs, std::int64_t dimension);
  // Vectors that a search holds at its peak, those of the range and the pairs included.
  static int most_vectors(int pairs, std::int64_t dimension) {
    return 2 * basis_size(pairs, dimension) + 5 * block_size(pairs, dimension);
  }

  // Goes on until all pairs reach the residual by Lanczos' own estimate and the probe finds none that is missing, or
  // until the calls are used up. `show` after each vector to which T was applied. Collective.
  LanczosEnd run(const std::function<void(const LanczosCounts&)>& show = {});

  // The pairs that are there, ascending: as many as were looked for, or fewer where not so many Ritz values lie below
  // the interval. Values are Rayleigh quotients |D v|^2 / |v|^2 of `precise`, an operator in fp64 with one right-hand
  // side on the same links: they give the order. The search ends with this. Collective.
  Eigenpairs pairs(StaggeredOperator& precise);

  const ChebyshevFilter& filter() const { return filter_; }
  const LanczosCounts& counts() const { return counts_; }
  double lowest_of_probe() const { return lowest_of_probe_; }  // Ritz value of K in the last probe
  std::int64_t bytes() const { return bytes_; }                // of vectors at the peak, this rank
  void visit(const Archive& archive);                          // the state, but for the range and the vectors

 private:
  struct Ritz {
    ComplexMatrix vectors;      // rows
    std::vector<double> theta;  // descending
    int ordered;                // the first ones, which tell an eigenvalue:
    std::vector<double> lambda, residual;
  };
  Ritz ritz(int first) const;  // of H without its first rows and columns
  Complex<double> coupling(int row, int first, const ComplexMatrix& vectors, int i) const;
  int count_converged(const Ritz& ritz) const;

  // Appends T u to the basis, block after block, until there is no room for one more in `size` vectors; false where the
  // calls do not suffice. Collective.
  bool extend(int size);
  // The basis becomes the Ritz vectors of these numbers, and the next block stays. Collective.
  void keep(const Ritz& ritz, const std::vector<int>& kept);
  // Forgets how the basis is coupled to the next block, which is drawn at random. Collective.
  void begin_anew();
  void forget_coupling();
  void widen(const Ritz& ritz);
  // Begins to look for missing pairs, and what that came to.
  void begin_probe(const Ritz& ritz);
  enum class Probe { complete, missing, out_of_calls };
  Probe end_probe();

  std::vector<ColorVectorField*> vectors_of_state();
  void keep_state();
  void take_state(const Archive& state);

  StaggeredOperator &d_, &d_of_block_;
  const Parity parity_;
  const SpectralRange& range_;
  const LanczosAim aim_;
  double expected_;  // eigenvalues that were to lie below the interval
  ChebyshevFilter filter_;
  ChebyshevFilter::Work work_;
  ColorVectorField block_, filtered_;
  LanczosBasis basis_;
  ComplexMatrix h_;  // rows from `filled_` couple the basis to the next block
  int filled_ = 0;   // vectors whose column of H is known
  int next_ = 0;     // vectors of the next block, which follow them; none where the basis spans the whole space
  // Where the search is between two extensions of the basis.
  struct Stage {
    int ordered_before = -1, without_growth = 0;  // Ritz values below the interval after the last sweep
    bool missing = false;                         // a probe has found pairs
    int probed = -1;                              // pairs that stayed where a probe is under way, else -1
    double last = 0;                              // the last of the pairs that are probed
    void visit(const Archive& archive);
  } stage_;
  LanczosCounts counts_;
  std::function<void(const LanczosCounts&)> show_;
  double lowest_of_probe_ = 0;
  std::int64_t bytes_ = 0;
};

}  // namespace staghorn
