#include "solver/program/inspect_improved.hpp"

#include <ostream>

#include "dirac/gauge/gauge_observables.hpp"
#include "halo/watch/error.hpp"
#include "lattice_io/files/header_text.hpp"
#include "lattice_io/gauge/improved_files.hpp"

namespace staghorn {

std::optional<ImprovedInspection> look_at_improved(const Communicator& communicator, const GaugeHeader& header,
                                                   const LinkField& links) {
  ImprovedInspection inspection;
  inspection.role = role_of(header);
  if (inspection.role.empty()) return std::nullopt;
  const bool is_long = inspection.role == "long";
  inspection.found = find_phases(communicator, links, is_long ? 3 : 1);
  if (!is_long) return inspection;
  inspection.coefficient = common_coefficient(communicator, links, inspection.found ? inspection.found->sign : -1);
  LinkField unscaled = links;
  scale_links(unscaled, 1 / inspection.coefficient);
  inspection.unitarity = check_unitarity(communicator, unscaled).max_deviation;
  return inspection;
}

void print_improved(std::ostream& out, const ImprovedInspection& inspection) {
  out << "  holds       " << inspection.role << " links, ";
  if (inspection.found)
    out << "phases " << to_string(inspection.found->phases) << ", boundary " << to_string(inspection.found->boundary)
        << "\n";
  else
    out << "whose determinants tell no phases\n";
  if (inspection.role == "long")
    out << "  coefficient " << shortest_digits(inspection.coefficient)
        << ", |N N^dagger - 1| <= " << three_digits(inspection.unitarity) << " without it\n";
}

}  // namespace staghorn
