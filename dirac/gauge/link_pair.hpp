// A pair of fat and long (Naik) links as another code holds it, taken apart: staggered phases, boundary signs and the
// coefficient of the long links come out, exactly but for the division by the coefficient. What the links say is
// compared with what their owner says. Fields are those of one lattice, fp64, on the host. Everything is collective and
// finds the same on every process grid.
#pragma once

#include <optional>
#include <string>

#include "dirac/gauge/link_phases.hpp"
#include "dirac/gauge/stored_links.hpp"
#include "halo/communicator.hpp"

namespace staghorn {

// Both halves, and their names in texts of errors.
struct LinkPair {
  LinkField &fat, &naik;
  std::string fat_name, naik_name;

  std::string both() const { return fat_name + " and " + naik_name; }
};

// Takes phases and the signs of boundaries out of both and returns what they were; `sign` is that of the long links.
// `stated`: the phases that the owner names; nothing: those that are found. Throws Error where phases or boundary
// cannot be told, are others than stated, or differ between fat and long links.
FoundPhases take_out_pair_phases(const Communicator& communicator, const LinkPair& pair,
                                 std::optional<LinkPhases> stated);

// Long links without their coefficient.
struct PairMeasures {
  double coefficient = 0;     // c_N
  double naik_unitarity = 0;  // max |N N^dagger - 1| without it
  double likeness = 0;        // of both (stored_links.hpp)
};

// Divides the long links by their coefficient: `stated`, or what they are times a unitary matrix on the average, with
// `sign`. Throws Error where a stated coefficient is not theirs, where fat and long links are swapped, and where they
// are no pair.
PairMeasures take_out_coefficient(const Communicator& communicator, const LinkPair& pair, int sign,
                                  std::optional<double> stated);

}  // namespace staghorn
