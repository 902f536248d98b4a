// Which staggered quarks: naive, asqtad or HISQ, made from thin links, or improved ones from stored fat and long links.
#pragma once

#include <optional>
#include <string>

#include "dirac/gauge/improved_links.hpp"
#include "dirac/gauge/link_phases.hpp"

namespace staghorn {

enum class Action { naive, asqtad, hisq };

// "naive", "asqtad", "hisq"; "u3", "su3"; and back. Parsing throws Error naming the choices.
std::string to_string(Action action);
Action parse_action(const std::string& text);
std::string to_string(Unitarize unitarize);
Unitarize parse_unitarize(const std::string& text);

// The quarks of a session, and where their links come from.
struct QuarkAction {
  Action action = Action::naive;
  std::optional<double> u0;            // asqtad: tadpole factor; 1 when absent
  std::optional<double> naik_epsilon;  // HISQ: correction for heavy quarks; 0 when absent
  std::optional<Unitarize> unitarize;  // HISQ: group of the first level; u3 when absent
  // Stored links instead of thin ones: both or neither.
  std::optional<std::string> fat, naik;
  std::optional<LinkPhases> phases_in_links;  // that the stored links hold; found from the links when absent

  bool in_memory = false;  // fat and long links that the caller has: no option of the program

  bool stored() const { return fat.has_value() || naik.has_value(); }
  bool improved() const { return action != Action::naive || stored() || in_memory; }
};

// Throws Error where these do not go together: an epsilon on a naive action, one of two files. Local.
void check_action(const QuarkAction& quarks);

// The links of asqtad or HISQ from thin links, on the host or on the selected GPU (improved_links.hpp). Collective.
ImprovedLinks make_improved_links(const Communicator& communicator, const LinkField& thin, const QuarkAction& quarks,
                                  MemorySpace where = MemorySpace::host);

}  // namespace staghorn
