// What Conjugate Gradient learns of its matrix on the way: estimates of the smallest and the largest eigenvalue, from
// the numbers of the iterations alone. Local.
#pragma once

#include <cstddef>
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

}  // namespace staghorn
