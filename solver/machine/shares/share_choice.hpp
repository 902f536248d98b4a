// `shares auto`: the slabs that let all ranks end an iteration of CG at the same time, by measurement.
//
// Each rank times an iteration on its own, with faces and without, on parts of two sizes: that gives its speed. The
// model of share_model.hpp then finds the slabs, and what the ranks wait for messages and sums is taken from an
// iteration of all on even slabs. The slabs found are measured too; where they are not faster than even ones, even ones
// are taken. No bit of a result depends on slabs, so times may decide.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "halo/communicator.hpp"
#include "halo/cut/share_summary.hpp"
#include "halo/host_mapping.hpp"
#include "solver/machine/shares/share_model.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

struct ShareChoice {
  SessionOptions options;  // as given, with `grid`, `shares`, `device` and `slowness` of this rank decided
  std::shared_ptr<const ShareSummary> summary;
  bool works = true;  // false: this rank is left out
  // What the choice rests on: even slabs, the speeds of all ranks (by number), and what ranks wait in an iteration.
  SlabWidths even;
  std::vector<RankSpeed> speeds;
  double waits = 0;
};

// Chooses grid and slabs for the ranks of `all`, once each of them has its device. With `may_leave_out`, ranks that
// would only slow the others down are left out; rank 0 never is. Throws Error on all ranks alike. Collective.
ShareChoice choose_shares(const Communicator& all, const Extents& global, const SessionOptions& options,
                          Mapping mapping, bool may_leave_out);

// The shares that give these widths. Local.
AskedShares shares_of(const SlabWidths& widths);

// The slowness of this rank among `all`, if any rank is slowed. Throws Error where `slow_device` names a rank that is
// not there. Local.
std::optional<double> slowness_of(const SessionOptions& options, const Communicator& all);

}  // namespace staghorn
