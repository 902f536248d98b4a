// The checkpoints of a solve whose right-hand sides are one batch: what surrounds the search, and its state. Collective
// throughout.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "solver/checkpoint/checkpoint_series.hpp"
#include "solver/search/search_keeper.hpp"

namespace staghorn {

class Checkpoints final : public SearchKeeper {
 public:
  // Arguments and errors as those of CheckpointSeries.
  Checkpoints(const Communicator& communicator, const Lattice& lattice, const AskedCheckpoint& asked,
              std::map<std::string, std::string> identity);

  // What surrounds the search: values, and solutions so far, which are kept if one of them is not zero. Both are asked
  // for whenever a checkpoint is written, and filled at once if there is a state to go on from.
  void surround(VisitState visit, std::span<VectorField> solutions);

  // The same around several searches that come one after the other, each with surroundings of its own, whose solutions
  // are a part of these. Enclosures nest: the solutions of the inner one stand for those of the outer one from place
  // `first` on. They may be copies, which count while the inner one lasts.
  void enclose(VisitState visit, std::span<VectorField> solutions, std::size_t first = 0);
  void end_enclosure();

  // What writes the job that all this is a part of.
  void add_job(VisitState visit) { visit_job_ = std::move(visit); }
  // The state to go on from as long as no search went on from it; nullptr otherwise.
  const Archive* found() const { return series_.found() && !handed_over_ ? &series_.found()->state : nullptr; }
  // No search is to go on from it: it is of no use any more.
  void forget() { handed_over_ = true; }
  void note(const std::string& text) { series_.note(text); }

  bool is_due() override { return series_.is_due(); }
  void keep(const SearchState& state) override;
  const Archive* kept() override { return found(); }
  void restore(const std::vector<ColorVectorField*>& vectors) override;

  CheckpointSummary summary() const { return series_.summary(); }

 private:
  struct Counts {  // of the file
    std::size_t solutions = 0, vectors = 0;
    void visit(const Archive& archive);
  };
  Counts counts() const;
  // Those of the file from place `first` on, of `all` solutions.
  void read_solutions(std::span<VectorField> solutions, std::size_t first, std::size_t all);
  std::vector<const VectorField*> solutions_so_far() const;

  const Communicator& communicator_;
  const Lattice& lattice_;
  CheckpointSeries series_;
  VisitState visit_surroundings_, visit_job_;
  std::span<VectorField> solutions_;
  struct Enclosure {
    VisitState visit;
    std::span<VectorField> solutions;
    std::size_t first;  // of these among the solutions of the outermost
  };
  std::vector<Enclosure> enclosures_;  // the outermost first
  bool handed_over_ = false;
};

}  // namespace staghorn
