#include "solver/report/iterations/iteration_bound.hpp"

#include <algorithm>
#include <cmath>

namespace staghorn {

namespace {

constexpr long last_doubling = 131072;
constexpr double least_share_of_largest = 1e-12;  // eigenvalues below it are not resolved by fp64
constexpr double log_of_2 = 0.6931471805599453;
constexpr double most = 1e15;  // iterations; none is ever so long

}  // namespace

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
