// Which mesons are asked for, in MILC's words: `pion5,rhox:p100,G5-G5X:p110:EO.EO.E,all-local:p100`. Local.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "solver/request/mesons/spin_taste_names.hpp"

namespace staghorn {

// How a meson depends on x_i: cos(k x), i sin(k x) or exp(i k x), with k = 2 pi p / n.
enum class MomentumPhase { cosine, sine, exponential };

struct SinkMomentum {
  std::array<int, 3> p{};  // in units of 2 pi / n
  std::array<MomentumPhase, 3> phase{};
  bool operator==(const SinkMomentum&) const = default;
};
std::string symmetry_of(const SinkMomentum& momentum);  // in MILC's letters: "E O EO"

// A vector current along mu whose quark and antiquark stand a link apart: its links are the thin ones, the fat ones of
// the action, or both fat and Naik ones, which is the conserved current. Of the first two there are parts: forward
// G1^dagger(x) U(x) G2(x+mu), backward the adjoint, and half the sum of both.
enum class CurrentLinks { thin, fat, conserved };
enum class CurrentPart { both, forward, backward };
struct LinkCurrent {
  int mu = 0;
  CurrentLinks links = CurrentLinks::conserved;
  CurrentPart part = CurrentPart::both;
  bool operator==(const LinkCurrent&) const = default;
};

struct MesonRequest {
  SpinTaste sink;  // of a current with links its name alone
  SinkMomentum momentum{};
  std::optional<LinkCurrent> current{};
};

// Sources of antiquark and quark, by their numbers in the list of sources, from 0.
struct SourcePair {
  int antiquark = 0, quark = 0;
  bool operator==(const SourcePair&) const = default;
};
// A:B between commas. Throws Error. Local.
std::vector<SourcePair> parse_pairs(const std::string& text);

// A momentum p and three digits, each with its sign: "p100", "p-110". Throws Error. Local.
std::array<int, 3> parse_momentum(const std::string& text);

// "rhox:p100:E.E.E". Local.
std::string to_string(const MesonRequest& meson);

// NAME[:pXYZ[:SYM]] between commas. NAME: one of MILC's, GA-GB, or all-local or all, which stand for 16 or 256 of the
// form GA-GB. XYZ: three digits, each with its sign. SYM: E, O or EO for each direction, as EOE or EO.EO.E, or once for
// all. Throws Error, with the name that may have been meant.
std::vector<MesonRequest> parse_mesons(const std::string& text);

}  // namespace staghorn
