// The checkpoints of a solve whose right-hand sides are one batch: what surrounds the search, and its state. Collective
// throughout.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>

#include "solver/checkpoint/checkpoint_series.hpp"

namespace staghorn {

class Checkpoints final : public SearchKeeper {
 public:
  // Arguments and errors as those of CheckpointSeries.
  Checkpoints(const Communicator& communicator, const Lattice& lattice, const SolveRequest& request,
              std::map<std::string, std::string> identity);

  // What surrounds the search: numbers, and solutions so far, which are kept if one of them is not zero. Both are asked
  // for whenever a checkpoint is written.
  void surround(std::function<SearchNumbers()> numbers, std::span<VectorField> solutions);
  // The numbers to go on from, where there are any; fills the solutions.
  const SearchNumbers* restore_surroundings();

  // The same around several searches that come one after the other, each with surroundings of its own, whose solutions
  // are a part of these. Empty `numbers` end it.
  void enclose(std::function<SearchNumbers()> numbers, std::span<VectorField> solutions);
  const SearchNumbers* restore_enclosure();

  bool is_due() override { return series_.is_due(); }
  void keep(const SearchState& state) override;
  const SearchNumbers* kept_numbers() override;
  void restore(const std::vector<ColorVectorField*>& vectors) override;

  CheckpointSummary summary() const { return series_.summary(); }

 private:
  const SearchNumbers* kept() const { return series_.found() && !handed_over_ ? &series_.found()->numbers : nullptr; }
  void read_solutions(std::span<VectorField> solutions);

  const Communicator& communicator_;
  const Lattice& lattice_;
  CheckpointSeries series_;
  std::function<SearchNumbers()> numbers_around_, numbers_enclosing_;
  std::span<VectorField> solutions_, all_solutions_;  // all: of the enclosure
  bool handed_over_ = false;
};

}  // namespace staghorn
