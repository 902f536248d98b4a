#include "dirac/stencil/boundary.hpp"

#include <charconv>
#include <cmath>
#include <sstream>

#include "dirac/stencil/phase_range.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

double parse_theta(const std::string& word) {
  if (word == "periodic") return 0;
  if (word == "antiperiodic") return 1;
  double theta = 0;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), theta);
  if (code != std::errc() || end != word.data() + word.size() || !std::isfinite(theta))
    throw Error("boundary", "periodic, antiperiodic or a phase in units of pi", "'" + word + "'");
  if (!is_resolved_phase(theta)) throw Error("boundary", resolved_phases, "'" + word + "'");
  return theta;
}

}  // namespace

Boundary parse_boundary(const std::string& text) {
  Boundary boundary;
  std::istringstream words(text);
  std::string word;
  int mu = 0;
  for (; std::getline(words, word, ','); ++mu)
    if (mu < 4) boundary.theta[mu] = parse_theta(word);
  if (mu != 4) throw Error("boundary", "four conditions px,py,pz,pt", "'" + text + "'");
  return boundary;
}

std::string to_string(const Boundary& boundary) {
  std::ostringstream text;
  for (int mu = 0; mu < 4; ++mu) {
    const double theta = boundary.theta[mu];
    text << (mu ? "," : "");
    if (theta == 0)
      text << "periodic";
    else if (theta == 1)
      text << "antiperiodic";
    else
      text << theta;
  }
  return text.str();
}

}  // namespace staghorn
