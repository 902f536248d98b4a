// Paths of links with weights, along which a vector is taken: sums of covariant steps.
#pragma once

#include <cstdint>
#include <vector>

namespace staghorn {

// One application is f(x) <- sum_i weights[i] (the steps of path i, the first leftmost) f; it is done `times` times. A
// step in +mu is mu, one in -mu is -1 - mu. An empty path leaves f where it is.
struct WeightedPaths {
  std::vector<std::vector<std::int32_t>> steps;
  std::vector<double> weights;
  int times = 1;
};

// Gaussian smearing over two links in the first d directions,
//
//   [1 - w^2 / (16 n) (2 d - sum over these of both hops over two links)]^n
//
// with w the width and n the times: near exp(-r^2 / w^2) for many steps and wide ones. Hops over two links keep the
// corner of the 2^3 cube of a staggered quark, and their staggered phases cancel. Where n < w^2 d / 8, modes grow.
// [S. Gusken et al., Phys. Lett. B227 (1989) 266; over two links as in MILC]
inline WeightedPaths gaussian_smearing(double width, int times, int directions = 3) {
  const double weight = width * width / (16.0 * times);
  WeightedPaths paths{{{}}, {1 - 2 * directions * weight}, times};
  for (std::int32_t mu = 0; mu < directions; ++mu)
    for (const std::int32_t step : {mu, -1 - mu}) {
      paths.steps.push_back({step, step});
      paths.weights.push_back(weight);
    }
  return paths;
}

}  // namespace staghorn
