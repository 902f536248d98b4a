// Spin-taste operators by name: those of MILC, as pion5 or rhox0, and GA-GB, as G5-G5X. Local throughout.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace staghorn {

// A spin-taste operator. Spin and taste are sets of directions: bits 1, 2, 4, 8 for x, y, z, t; gamma_5 is all of them.
struct SpinTaste {
  std::string name;  // as it was asked for
  int sign = 1, spin = 0, taste = 0;
  int shifts() const { return spin ^ taste; }  // the directions along which it shifts
  bool operator==(const SpinTaste&) const = default;
};

// Those of the form GA-GB: the 16 without shifts, and all 256.
std::vector<SpinTaste> local_spin_tastes();
std::vector<SpinTaste> all_spin_tastes();

// Nothing where there is none of this name.
std::optional<SpinTaste> find_spin_taste(const std::string& name);
std::vector<std::string> spin_taste_names();

// What a message says of names that it expected.
constexpr const char* spin_taste_words =
    "a name of MILC's, as pion5 or rhox0, or GA-GB of two of 1, X, Y, Z, T, 5, XY, ZX, YZ, XT, YT, ZT, 5X, 5Y, 5Z, 5T, "
    "as G5-G5X";

}  // namespace staghorn
