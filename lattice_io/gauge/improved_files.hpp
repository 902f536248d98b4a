// Fat and long (Naik) links of improved staggered quarks in a pair of files, SciDAC or HDF5.
//
// Files of other codes hold staggered phases, boundary signs and the coefficient of the long links in their numbers;
// ours hold them if that was asked for. Reading takes all three out, exactly but for the division by the coefficient.
// It finds them from the links themselves, and compares them with what the files and the caller say. [MILC, save_fat
// and save_long; path_coeff of the file's XML]
#pragma once

#include <map>
#include <optional>
#include <string>

#include "dirac/gauge/improved_links.hpp"
#include "dirac/gauge/link_phases.hpp"
#include "dirac/stencil/boundary.hpp"
#include "halo/communicator.hpp"
#include "lattice_io/gauge/gauge_file.hpp"

namespace staghorn {

// What the headers of a pair say.
struct ImprovedHeaders {
  GaugeHeader fat, naik;
  // Lines "name value" of their descriptions that both have, or one: action, u0, naik_epsilon, ...; gauge.filename and
  // asqtad.* of MILC.
  std::map<std::string, std::string> description;
};

// Throws Error where the files are of different lattices, of different descriptions, or swapped. Collective.
ImprovedHeaders read_improved_headers(const Communicator& communicator, const std::string& fat,
                                      const std::string& naik);

// "fat" or "long", as the file says itself, or "". Local.
std::string role_of(const GaugeHeader& header);

// The description in one header: attributes of HDF5, lines of SciDAC's XML. Local.
std::map<std::string, std::string> described_by(const GaugeHeader& header);

struct StoredImprovedLinks {
  ImprovedLinks links;  // without phases, boundary signs and coefficient
  GaugeChecks fat_checks, naik_checks;
  LinkPhases phases = LinkPhases::none;  // that were in the files
  Boundary boundary{{0, 0, 0, 0}};       // whose signs were in the files
  double naik_unitarity = 0;             // max |N N^dagger - 1| without the coefficient
  double likeness = 0;                   // of both files (dirac/gauge/stored_links.hpp)
};

// Reads both files onto this rank's part of `lattice`. `asked`: the phases that the caller says are in them; nothing:
// those that are found. Throws Error where checksums fail (unless not `verify`), where phases or boundary cannot be
// told or are others than the caller says, and where the files are no pair. Collective.
StoredImprovedLinks read_improved_links(const Communicator& communicator, const ImprovedHeaders& headers,
                                        const Lattice& lattice, std::optional<LinkPhases> asked, bool verify = true);

// How a pair is written.
struct ImprovedFormat {
  GaugeFormat format = GaugeFormat::hdf5;  // or scidac
  Precision precision = Precision::fp64;
  LinkPhases phases = LinkPhases::none;            // to be multiplied in, with the signs of
  Boundary boundary;                               // this boundary
  std::map<std::string, std::string> description;  // action, u0, naik_epsilon, ...
  bool force = false;
};

// Writes F and c_N N, each with phases if asked for; both files get their names together. The links are used up.
// Collective.
void write_improved_links(const Communicator& communicator, const std::string& fat, const std::string& naik,
                          ImprovedLinks&& links, const ImprovedFormat& how);

}  // namespace staghorn
