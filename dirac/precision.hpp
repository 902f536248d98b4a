// The run-time choices a field is made with. Templates exist only in kernels; everything else passes these enums.
#pragma once

#include <string>

namespace staghorn {

enum class Precision { fp64, fp32 };

// Reals stored per link: all 18, the first two rows (third row rebuilt as conj(row0 x row1)), or as many as SU(3) has
// dimensions (eight_reals.hpp). The last two are exact only for SU(3).
enum class Reconstruct { none18, row12, su3_8 };

constexpr int bytes_per_real(Precision p) { return p == Precision::fp64 ? 8 : 4; }
constexpr int reals_per_link(Reconstruct r) { return r == Reconstruct::none18 ? 18 : r == Reconstruct::row12 ? 12 : 8; }

// "fp64", "fp32" and back; throws Error naming the choices.
std::string to_string(Precision precision);
Precision parse_precision(const std::string& text);
// "18", "12", "8" and back; throws Error naming the choices.
std::string to_string(Reconstruct reconstruct);
Reconstruct parse_reconstruct(const std::string& text);

}  // namespace staghorn
