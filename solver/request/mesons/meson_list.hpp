// Which mesons are asked for, in MILC's words: `pion5,rhox:p100,G5-G5X:p110:EO.EO.E,all-local:p100`. Local.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace staghorn {

// A spin-taste operator. Spin and taste are sets of directions: bits 1, 2, 4, 8 for x, y, z, t; gamma_5 is all of them.
struct SpinTaste {
  std::string name;  // as it was asked for
  int sign, spin, taste;
  int shifts() const { return spin ^ taste; }  // the directions along which it shifts
};

// How a meson depends on x_i: cos(k x), i sin(k x) or exp(i k x), with k = 2 pi p / n.
enum class MomentumPhase { cosine, sine, exponential };

struct SinkMomentum {
  std::array<int, 3> p{};  // in units of 2 pi / n
  std::array<MomentumPhase, 3> phase{};
  bool operator==(const SinkMomentum&) const = default;
};
std::string symmetry_of(const SinkMomentum& momentum);  // in MILC's letters: "E O EO"

struct MesonRequest {
  SpinTaste sink;
  SinkMomentum momentum;
};

// "rhox:p100:E.E.E". Local.
std::string to_string(const MesonRequest& meson);

// NAME[:pXYZ[:SYM]] between commas. NAME: one of MILC's, GA-GB, or all-local or all, which stand for 16 or 256 of the
// form GA-GB. XYZ: three digits, each with its sign. SYM: E, O or EO for each direction, as EOE or EO.EO.E, or once for
// all. Throws Error, with the name that may have been meant.
std::vector<MesonRequest> parse_mesons(const std::string& text);

}  // namespace staghorn
