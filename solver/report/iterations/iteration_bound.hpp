// How many iterations Conjugate Gradient can need, by what its own coefficients say of the matrix: what ends a search
// that no number of iterations ends. With + - * / and square roots alone: the same decisions on all machines.
#pragma once

#include <cstdint>
#include <limits>

#include "solver/report/cg_spectrum.hpp"

namespace staghorn {

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
