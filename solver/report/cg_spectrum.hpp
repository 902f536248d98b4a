// What Conjugate Gradient learns of its matrix on the way, from the numbers of the iterations alone: estimates of the
// smallest and the largest eigenvalue, and how many iterations it can need. That ends a search which no number of
// iterations ends. With + - * / and square roots alone: the same decisions on all machines. Local.
#pragma once

#include <cstddef>
#include <limits>
#include <span>

namespace staghorn {

struct SpectrumEstimate {
  double smallest = 0, largest = 0;  // of A = 4m^2 - D^2
  double condition() const { return largest / smallest; }
  bool known() const { return largest > 0; }
  // Takes in what another search found.
  void merge(const SpectrumEstimate& other) {
    if (!other.known()) return;
    smallest = !known() || other.smallest < smallest ? other.smallest : smallest;
    largest = other.largest > largest ? other.largest : largest;
  }
};

// The extreme eigenvalues of the tridiagonal matrix that CG builds [Lanczos 1950; G. Meurant and Z. Strakos, Acta
// Numerica 15 (2006) 471]: with beta_k = |r_k|^2 / |r_{k-1}|^2
//   T_kk = 1/alpha_k + beta_k/alpha_{k-1},   T_{k,k+1} = sqrt(beta_{k+1}) / alpha_k.
// They lie within the spectrum of A, and close in on its ends: the largest after a few iterations, the smallest as the
// search converges. `r2`: |r|^2 before the first and after each iteration; `alpha`: of each iteration. Nothing is known
// from fewer than two iterations, or where a number is not above zero. By counting signs in T - x (Sturm), with + - * /
// alone: the same bits everywhere. Costs about 150 divisions an iteration. `first`: rows of T before it are left out.
SpectrumEstimate estimate_spectrum(std::span<const double> r2, std::span<const double> alpha, std::size_t first = 0);

// The same of a search whose residual was recomputed after the iterations `updates`, where no eigenvalue is below
// `least`. Across an update, the coefficients are not quite those of A. So the estimates are those of the longest
// stretch without one, which lie within the spectrum, but for a smaller eigenvalue that all coefficients tell and that
// is not below `least`.
SpectrumEstimate estimate_spectrum(std::span<const double> r2, std::span<const double> alpha,
                                   std::span<const long> updates, double least);

// Where no number of iterations is a limit.
constexpr long no_limit = std::numeric_limits<long>::max();

// The coefficients are looked at after 512, 1024, 2048, ... iterations, from 131072 on after multiples of that.
constexpr long first_look = 512;
long next_look(long iterations);  // the first one after so many
inline bool is_look(long iterations) { return iterations >= first_look && next_look(iterations - 1) == iterations; }

// A search ends as stagnated after so many times the bound below. Rounding makes CG slower than in exact arithmetic:
// fp32 at small masses takes some three times as many iterations as fp64, and fp64 seldom more than the bound.
constexpr long most_bounds = 10;

// sqrt(kappa) of A = shift - D^2, which has no eigenvalue below `shift`; 0 where nothing is known.
double root_condition(const SpectrumEstimate& of_A, double shift);
// The same where the smallest eigenvalue is not known: from the shift alone, and no more than 1e6.
double root_condition_of_shift(double largest, double shift);

// In exact arithmetic |r_k| <= 2 sqrt(kappa) exp(-2 k / sqrt(kappa)) |r_0| [e.g. Y. Saad, Iterative Methods for Sparse
// Linear Systems (2003), 6.11]. So |r| falls by a factor of e in this many iterations at most, in the long run.
constexpr double iterations_per_e(double root_condition) { return root_condition / 2; }
// The k after which |r_k| <= share |r_0|; the logarithm is rounded up to a whole power of two. 0 where nothing is
// known. A share of 0 or less, which no residual reaches, counts as 2^-100.
long iteration_bound(double root_condition, double share);

}  // namespace staghorn
