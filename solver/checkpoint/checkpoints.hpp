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

  bool is_due() override { return series_.is_due(); }
  void keep(const SearchState& state) override;
  const SearchNumbers* kept_numbers() override;
  void restore(const std::vector<ColorVectorField*>& vectors) override;

  CheckpointSummary summary() const { return series_.summary(); }

 private:
  const Communicator& communicator_;
  const Lattice& lattice_;
  CheckpointSeries series_;
  std::function<SearchNumbers()> numbers_around_;
  std::span<VectorField> solutions_;
  bool handed_over_ = false;
};

}  // namespace staghorn
