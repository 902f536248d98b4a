// What is done to a source before it is solved for, in words that follow its own: `point:0,0,0,0@G5-G5X@p100`. Local.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "solver/request/mesons/spin_taste_names.hpp"

namespace staghorn {

// Covariant Gaussian smearing over two links, as gaussian_smearing has it (dirac/operators/weighted_paths.hpp).
struct GaussianSmearing {
  double width;
  int steps;
  bool operator==(const GaussianSmearing&) const = default;
};

// One of the four.
struct SourceOperator {
  std::vector<SpinTaste> spin_tastes{};          // the sum of these operators
  std::optional<std::array<int, 3>> momentum{};  // a factor exp(2 pi i p x / n), x counted from the source
  std::optional<int> time_slice{};               // what lies on other slices becomes zero
  std::optional<GaussianSmearing> smearing{};
  bool operator==(const SourceOperator&) const = default;
};

// NAME or NAME+NAME+..., spin-taste operators; pXYZ; tN; gaussW:N. Throws Error, with the name that may have been
// meant.
SourceOperator parse_source_operator(const std::string& text);
// "G5-G5X", "pion5+pioni", "p100", "t4", "gauss2.5:30"
std::string to_string(const SourceOperator& applied);

// Whether any of them shifts or smears, and so reads the thin links.
bool have_shifts(const std::vector<SourceOperator>& operators);

}  // namespace staghorn
