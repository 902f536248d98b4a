// What the groups of a job tell each other, and which of them solves what. Collective over the job where nothing else
// is said.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "halo/lattice.hpp"
#include "solver/session/groups/rank_groups.hpp"

namespace staghorn {

// Parts that one group must solve as a whole: numbers of right-hand sides, which go together because they are iterated
// together, or because an observable needs them all.
class Pieces {
 public:
  explicit Pieces(std::size_t n_rhs);
  void join(std::size_t a, std::size_t b);  // the pieces of two right-hand sides are one
  // In the order of their first right-hand sides.
  std::vector<std::vector<std::size_t>> list() const;

 private:
  std::size_t first_of(std::size_t rhs) const;
  std::vector<std::size_t> first_;
};

// Deals pieces to so many takers, in order, so that all get about as many right-hand sides, and at
// least one piece if there are enough; the same everywhere.
// Returns numbers of pieces for each taker. Local.
std::vector<std::vector<std::size_t>> deal(const std::vector<std::vector<std::size_t>>& pieces, std::size_t takers);

class JobGroups {
 public:
  // `placed`: the ranks of this group as its lattice is cut. `ranks` must outlive the object. Throws Error where groups
  // have cut their lattices in different ways.
  JobGroups(const RankGroups& ranks, const Communicator& placed, const Lattice& lattice);

  const RankGroups& ranks() const { return ranks_; }
  int count() const { return ranks_.count(); }
  int number() const { return ranks_.number(); }
  // The ranks that hold this part of the lattice, one of each group, in the order of groups.
  const Communicator& across() const { return across_; }

  // Waits for the slowest group. Its ranks sleep meanwhile, and the watchdog does not take it for stuck.
  void wait() const { ranks_.all().patient_barrier(); }
  // What each group says, in the order of groups.
  std::vector<std::string> tell(const std::string& mine) const;
  // Makes `numbers` those of the first group that has some.
  void complete(std::vector<double>& numbers) const;

 private:
  const RankGroups& ranks_;
  Communicator across_;
};

}  // namespace staghorn
