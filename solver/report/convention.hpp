// Which equation a solution solves: what differs between codes that solve the staggered Dirac equation. Plain data, and
// its words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dirac/gauge/link_phases.hpp"
#include "dirac/stencil/boundary.hpp"
#include "halo/lattice.hpp"
#include "solver/request/quark_action.hpp"

namespace staghorn {

// How the links of a file enter D: U, or what a code makes of it that takes rows for columns.
enum class LinkReading { as_stored, daggered, transposed, conjugated };
std::string to_string(LinkReading reading);

// b = factor (2m + D) x; adjoint: 2m - D; squared: 4m^2 - D^2, on the sites of `parity` or on all.
struct Convention {
  QuarkAction quarks;
  LinkReading links = LinkReading::as_stored;
  LinkPhases phases = LinkPhases::cps;  // of the vectors
  // From where phases count. Only the parity of x, y and z matters; the antiperiodic boundary in t lies before t.
  Coordinates origin{};
  Boundary boundary;
  bool squared = false;
  std::optional<Parity> parity;
  bool adjoint = false;
  double factor = 1;
  double mass = 0;
};

// "(2m + D) x = b", "(m + D/2) x = b", "(4m^2 - D^2) x = b on even sites". Local.
std::string equation(const Convention& convention);

// What `given`, the mass that somebody gave, is to the mass m of a convention: "m", "2m" or "m/2"; "" for none. Local.
std::string meaning_of_mass(const Convention& convention, std::optional<double> given);

// Where `found` differs from `asked`, a text for each. Masses and equations are not compared. Local.
std::vector<std::string> differences(const Convention& found, const Convention& asked);

// The options with which the program certifies a solution of this convention; "" where it has no such options. Local.
std::string options_of(const Convention& convention);

}  // namespace staghorn
