// Numbers as people write them: 0.05 of 0.0500000000013. Local.
#pragma once

#include "solver/request/option_text.hpp"
#include "solver/request/words/formatted.hpp"

namespace staghorn {

// A number of as few digits as are good enough: off(number) is what it changes.
double few_digits(double value, const auto& off, double allowed) {
  for (int digits = 1; digits < 17; ++digits)
    if (const double rounded = parse_number<double>(format("%.*g", digits, value)); off(rounded) <= allowed)
      return rounded;
  return value;
}

}  // namespace staghorn
