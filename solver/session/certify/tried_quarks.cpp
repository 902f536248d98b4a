#include "solver/session/certify/tried_quarks.hpp"

#include <algorithm>
#include <cmath>

#include "halo/watch/error.hpp"

namespace staghorn {

TriedQuarks::TriedQuarks(const Communicator& communicator, const OperatorLinks& given, const QuarkAction& asked)
    : communicator_(communicator), given_(given) {
  make(asked);
}

const TriedLinks& TriedQuarks::make(const QuarkAction& quarks) {
  if (!quarks.improved() || quarks.stored()) return tried_.emplace_back(TriedLinks{quarks, given_});
  require_fit(given_.lattice(), Stencil::improved);
  made_.push_back(make_improved_links(communicator_, given_.near, quarks));
  const ImprovedLinks& links = made_.back();
  return tried_.emplace_back(TriedLinks{quarks, {links.fat, links.naik, links.naik_weight}});
}

std::vector<TriedLinks> TriedQuarks::make_others(double plaquette, std::vector<std::string>& left_out) {
  std::vector<TriedLinks> made;
  if (!thin()) return made;
  QuarkAction naive, asqtad, tadpole, hisq;
  asqtad.action = tadpole.action = Action::asqtad;
  hisq.action = Action::hisq;
  if (plaquette > 0) tadpole.u0 = std::sqrt(std::sqrt(plaquette));
  for (const QuarkAction& quarks : {naive, asqtad, tadpole, hisq}) {
    const auto same = [&](const TriedLinks& tried) {
      return tried.quarks.action == quarks.action && tried.quarks.u0.value_or(1) == quarks.u0.value_or(1) &&
             tried.quarks.naik_epsilon.value_or(0) == 0;
    };
    if (std::any_of(tried_.begin(), tried_.end(), same)) continue;
    try {
      made.push_back(make(quarks));
    } catch (const Error&) {  // on all ranks alike: short parts of the lattice, a link that has no projection
      left_out.push_back(to_string(quarks.action));
    }
  }
  return made;
}

}  // namespace staghorn
