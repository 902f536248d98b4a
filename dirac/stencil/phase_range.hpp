// Which phases of a boundary condition make sense, in units of pi.
#pragma once

#include <cmath>

namespace staghorn {

// Beyond it a double does not resolve what is left of the phase modulo 2 to ten digits; at 1e17 it resolves nothing.
constexpr double largest_phase = 0x1p20;
inline bool is_resolved_phase(double theta) { return std::fabs(theta) <= largest_phase; }  // false for NaN
inline constexpr const char* resolved_phases =
    "phases of size up to 1048576 in units of pi, which doubles resolve to ten digits";

}  // namespace staghorn
