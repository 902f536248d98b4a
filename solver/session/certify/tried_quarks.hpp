// The links of D for the quarks that a search tries on one configuration. Collective.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "halo/communicator.hpp"
#include "solver/session/certify/convention_search.hpp"

namespace staghorn {

class TriedQuarks {
 public:
  // `given`: thin links, or fat and Naik links that belong to `asked`, which are the first. Both must outlive the
  // object, and so must it what it returns.
  TriedQuarks(const Communicator& communicator, const OperatorLinks& given, const QuarkAction& asked);

  const TriedLinks& asked() const { return tried_.front(); }
  // The links of other quarks, made from thin ones.
  const TriedLinks& make(const QuarkAction& quarks);
  // All others that thin links make without further parameters, and asqtad with the tadpole factor of their plaquette.
  // Adds to `left_out` the actions that the lattice or its links do not allow.
  std::vector<TriedLinks> make_others(double plaquette, std::vector<std::string>& left_out);
  std::vector<TriedLinks> all() const { return {tried_.begin(), tried_.end()}; }
  // Nothing where only stored links are there.
  const LinkField* thin() const { return asked().quarks.stored() ? nullptr : &given_.near; }

 private:
  const Communicator& communicator_;
  OperatorLinks given_;
  std::deque<ImprovedLinks> made_;
  std::deque<TriedLinks> tried_;
};

}  // namespace staghorn
