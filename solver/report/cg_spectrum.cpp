#include "solver/report/cg_spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace staghorn {

namespace {

constexpr long last_doubling = 131072;
constexpr double least_share_of_largest = 1e-12;  // eigenvalues below it are not resolved by fp64
constexpr double log_of_2 = 0.6931471805599453;
constexpr double most = 1e15;  // iterations; none is ever so long

struct Tridiagonal {
  std::vector<double> diagonal, off2;  // off2[k]: the square of the element beside diagonal[k] and diagonal[k + 1]

  // How many eigenvalues lie below x: the negative pivots of T - x [W. Givens 1954].
  std::size_t below(double x, double tiny) const {
    std::size_t count = 0;
    double pivot = 1;
    for (std::size_t k = 0; k < diagonal.size(); ++k) {
      pivot = (diagonal[k] - x) - (k == 0 ? 0 : off2[k - 1] / pivot);
      if (std::fabs(pivot) < tiny) pivot = -tiny;
      count += pivot < 0;
    }
    return count;
  }

  // The boundary between fewer than `wanted` and at least `wanted` eigenvalues below it, to a relative 1e-8.
  // Eigenvalues are positive; halves on a scale of ratios first, as the smallest may be 1e-10 of the largest.
  double boundary(std::size_t wanted, double low, double high) const {
    const double tiny = high * 1e-300;
    while (high > low * 4) {
      const double middle = std::sqrt(low) * std::sqrt(high);
      (below(middle, tiny) >= wanted ? high : low) = middle;
    }
    while (high - low > 1e-8 * high) {
      const double middle = low + (high - low) / 2;
      (below(middle, tiny) >= wanted ? high : low) = middle;
    }
    return low + (high - low) / 2;
  }
};

}  // namespace

SpectrumEstimate estimate_spectrum(std::span<const double> r2, std::span<const double> alpha, std::size_t first) {
  const std::size_t n = std::min(alpha.size(), r2.empty() ? 0 : r2.size() - 1);
  Tridiagonal t;
  for (std::size_t k = 0; k < n; ++k) {
    const double beta = k == 0 ? 0 : r2[k] / r2[k - 1];
    if (k < first) continue;
    if (!(alpha[k] > 0) || !(beta >= 0) || !std::isfinite(beta) || !std::isfinite(1 / alpha[k])) break;
    if (k > first) t.off2.push_back(beta / alpha[k - 1] / alpha[k - 1]);
    t.diagonal.push_back(1 / alpha[k] + (k == 0 ? 0 : beta / alpha[k - 1]));
  }
  if (t.diagonal.size() < 2) return {};
  double high = 0;  // no eigenvalue lies beyond the rim of the circles [Gershgorin 1931]
  for (std::size_t k = 0; k < t.diagonal.size(); ++k) {
    const double before = k > 0 ? std::sqrt(t.off2[k - 1]) : 0;
    const double after = k < t.off2.size() ? std::sqrt(t.off2[k]) : 0;
    high = std::max(high, t.diagonal[k] + before + after);
  }
  high *= 1 + 1e-10;
  return {t.boundary(1, high * 1e-30, high), t.boundary(t.diagonal.size(), high * 1e-30, high)};
}

SpectrumEstimate estimate_spectrum(std::span<const double> r2, std::span<const double> alpha,
                                   std::span<const long> updates, double least) {
  std::size_t begin = 0, first = 0, last = 0;  // the longest stretch so far ends before iteration `last`
  const auto look_at = [&](std::size_t end) {
    if (end - begin > last - first) first = begin, last = end;
    begin = end;
  };
  for (const long update : updates) look_at(std::min(std::size_t(update), alpha.size()));
  look_at(alpha.size());
  // The first row after an update would need the coefficient before it.
  SpectrumEstimate found =
      estimate_spectrum(r2.first(std::min(last + 1, r2.size())), alpha.first(last), first == 0 ? 0 : first + 1);
  const double smallest = estimate_spectrum(r2, alpha).smallest;
  if (smallest >= least && smallest < found.smallest) found.smallest = smallest;
  return found;
}

long next_look(long iterations) {
  if (iterations >= last_doubling) return (iterations / last_doubling + 1) * last_doubling;
  long look = first_look;
  while (look <= iterations) look *= 2;
  return look;
}

double root_condition(const SpectrumEstimate& of_A, double shift) {
  if (!of_A.known()) return 0;
  const double smallest = std::max(of_A.smallest, shift);
  return std::sqrt(std::max(of_A.largest / smallest, 1.0));
}

double root_condition_of_shift(double largest, double shift) {
  return largest > 0 ? root_condition({least_share_of_largest * largest, largest}, shift) : 0;
}

long iteration_bound(double root_condition, double share) {
  if (!(root_condition > 0)) return 0;
  const double fall = 2 * root_condition / (share > 0 ? share : 0x1p-100);
  const double log_of_fall = log_of_2 * std::max(std::isfinite(fall) ? std::ilogb(fall) + 1 : 1024, 1);
  return long(std::min(std::ceil(iterations_per_e(root_condition) * log_of_fall), most));
}

}  // namespace staghorn
