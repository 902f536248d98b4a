#include "solver/request/quark_action.hpp"

#include <cmath>

#include "halo/named_choice.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

constexpr NamedChoice<Action, 3> actions{
    "action", {{{Action::naive, "naive"}, {Action::asqtad, "asqtad"}, {Action::hisq, "hisq"}}}};
constexpr NamedChoice<Unitarize, 2> groups{"unitarize", {{{Unitarize::u3, "u3"}, {Unitarize::su3, "su3"}}}};

void require_action(const char* option, Action wanted, const QuarkAction& quarks) {
  if (quarks.action != wanted)
    throw Error(option, "`action` " + to_string(wanted) + ", to which it belongs",
                quarks.stored() ? "links from files, in which it is" : "`action` " + to_string(quarks.action));
}

}  // namespace

std::string to_string(Action action) { return actions.name(action); }
Action parse_action(const std::string& text) { return actions.parse(text); }
std::string to_string(Unitarize unitarize) { return groups.name(unitarize); }
Unitarize parse_unitarize(const std::string& text) { return groups.parse(text); }

void check_action(const QuarkAction& quarks) {
  if (quarks.fat.has_value() != quarks.naik.has_value())
    throw Error(quarks.fat ? "fat" : "naik", "a file of fat and one of Naik links (`fat` and `naik`)", "one of them");
  if (quarks.stored() && quarks.action != Action::naive)
    throw Error("action", "thin links, or links from files (`fat` and `naik`), which have an action already",
                to_string(quarks.action));
  if (quarks.stored() && *quarks.fat == *quarks.naik)
    throw Error("fat and long links", "two different files", "'" + *quarks.fat + "' for both");
  if (quarks.phases_in_links && !quarks.stored())
    throw Error("phases_in_links", "links from files (`fat` and `naik`), which may hold phases", "neither");
  if (quarks.u0) require_action("u0", Action::asqtad, quarks);
  if (quarks.naik_epsilon) require_action("naik_epsilon", Action::hisq, quarks);
  if (quarks.unitarize) require_action("unitarize", Action::hisq, quarks);
  if (quarks.u0 && !(*quarks.u0 > 0 && std::isfinite(*quarks.u0))) throw Error("u0", "a number above 0", *quarks.u0);
  if (quarks.naik_epsilon && !std::isfinite(*quarks.naik_epsilon))
    throw Error("naik_epsilon", "a finite number", *quarks.naik_epsilon);
}

ImprovedLinks make_improved_links(const Communicator& communicator, const LinkField& thin, const QuarkAction& quarks,
                                  MemorySpace where) {
  if (quarks.action == Action::asqtad) return asqtad_links(communicator, thin, quarks.u0.value_or(1), where);
  return hisq_links(communicator, thin, quarks.naik_epsilon.value_or(0), quarks.unitarize.value_or(Unitarize::u3),
                    where);
}

}  // namespace staghorn
