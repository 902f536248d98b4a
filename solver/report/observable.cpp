#include "solver/report/observable.hpp"

#include <cmath>

namespace staghorn {

MeanAndError mean_of(std::span<const double> values) {
  const double n = double(values.size());
  MeanAndError mean;
  for (const double value : values) mean.value += value;
  mean.value /= n;
  if (values.size() < 2) return mean;
  double squares = 0;
  for (const double value : values) squares += (value - mean.value) * (value - mean.value);
  mean.error = std::sqrt(squares / (n * (n - 1)));
  return mean;
}

}  // namespace staghorn
