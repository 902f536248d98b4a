// The checkpoints of a solve whose right-hand sides are one batch: what surrounds the search, and its state. Collective
// throughout.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "solver/checkpoint/checkpoint_series.hpp"

namespace staghorn {

class Checkpoints final : public SearchKeeper {
 public:
  // Arguments and errors as those of CheckpointSeries.
  Checkpoints(const Communicator& communicator, const Lattice& lattice, const CheckpointPlace& place,
              std::map<std::string, std::string> identity);

  // What surrounds the search: numbers, and solutions so far, which are kept if one of them is not zero. Both are asked
  // for whenever a checkpoint is written.
  void surround(std::function<SearchNumbers()> numbers, std::span<VectorField> solutions);
  // The numbers to go on from, where there are any; fills the solutions.
  const SearchNumbers* restore_surroundings();

  // The same around several searches that come one after the other, each with surroundings of its own, whose solutions
  // are a part of these. Enclosures nest: the solutions of the inner one stand for those of the outer one from place
  // `first` on. They may be copies, which count while the inner one lasts.
  void enclose(std::function<SearchNumbers()> numbers, std::span<VectorField> solutions, std::size_t first = 0);
  void end_enclosure();
  // The numbers to go on from, where there are any; fills the solutions of the innermost enclosure.
  const SearchNumbers* restore_enclosure();

  // Numbers of the job that all this is a part of.
  void add_job(std::function<SearchNumbers()> numbers) { numbers_of_job_ = std::move(numbers); }
  // The state to go on from as long as no search went on from it; nullptr otherwise.
  const SearchNumbers* found() const { return kept(); }
  // No search is to go on from it: it is of no use any more.
  void forget() { handed_over_ = true; }
  void note(const std::string& text) { series_.note(text); }

  bool is_due() override { return series_.is_due(); }
  void keep(const SearchState& state) override;
  const SearchNumbers* kept_numbers() override;
  void restore(const std::vector<ColorVectorField*>& vectors) override;

  CheckpointSummary summary() const { return series_.summary(); }

 private:
  const SearchNumbers* kept() const { return series_.found() && !handed_over_ ? &series_.found()->numbers : nullptr; }
  // Those of the file from place `first` on, of `all` solutions.
  void read_solutions(std::span<VectorField> solutions, std::size_t first, std::size_t all);
  std::vector<const VectorField*> solutions_so_far() const;

  const Communicator& communicator_;
  const Lattice& lattice_;
  CheckpointSeries series_;
  std::function<SearchNumbers()> numbers_around_, numbers_of_job_;
  std::span<VectorField> solutions_;
  struct Enclosure {
    std::function<SearchNumbers()> numbers;
    std::span<VectorField> solutions;
    std::size_t first;  // of these among the solutions of the outermost
  };
  std::vector<Enclosure> enclosures_;  // the outermost first
  bool handed_over_ = false;
};

}  // namespace staghorn
