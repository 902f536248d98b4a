// The state of a job of many sources: which are done, and the batch in flight. Private to this folder. Collective
// throughout.
//
// A file of a checkpoint holds, for each column, the solution so far, if there is one, and the vectors of its search;
// and numbers: what the passes remember, what is known of sources that are done, and hashes of their solutions. These
// solutions are in the solution file, which is on the disk before the checkpoint is. A source whose solution is not
// there any more, and a column that finds no place, begin anew: no bit of a solution depends on that.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "solver/checkpoint/checkpoint_series.hpp"
#include "solver/session/many/kept_solutions.hpp"
#include "solver/session/many/refilled_batch.hpp"
#include "solver/session/many/solve_many.hpp"

namespace staghorn {

class ManyCheckpoint {
 public:
  // `solutions` keeps what is done. All but `identity` must outlive this. Throws Error as CheckpointSeries does, and
  // where `solutions` cannot go on.
  ManyCheckpoint(const Communicator& communicator, const Lattice& lattice, const SolveRequest& request,
                 std::map<std::string, std::string> identity, SolutionSink* solutions);

  // What a job is before it goes on: `rhs` and `is_done` of each source, and the batch, which is empty. `make` makes a
  // source in CPS phases, `again` takes the solutions that are done, on the host. Returns the sources that are in
  // flight. Where there is no state, all begin.
  std::vector<std::size_t> go_on(CertifiedSolve& whole, std::vector<bool>& is_done, RefilledBatch& batch,
                                 const std::function<VectorField(std::size_t)>& make, const TakeSolution& again);

  // A source is done: its solution was taken.
  void remember(std::size_t source, const VectorField& x) { solutions_.remember(source, x); }

  bool is_due() { return series_.is_due(); }
  void keep(const CertifiedSolve& whole, const std::vector<bool>& is_done, RefilledBatch& batch);

  CheckpointSummary summary() const { return series_.summary(); }

 private:
  std::vector<std::size_t> take_columns(RefilledBatch& batch, const std::function<VectorField(std::size_t)>& make);

  const Communicator& communicator_;
  const Lattice& lattice_;
  KeptSolutions solutions_;
  CheckpointSeries series_;
};

}  // namespace staghorn
