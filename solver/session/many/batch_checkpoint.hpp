// The state of a job whose sources are solved batch after batch: which batches are done, and the search in flight.
// Private to this folder. Collective throughout.
//
// A state is written within the search of a batch. Solutions that are done are in the solution file, which is on the
// disk before the state is; a batch of which one is not there any more is solved again, with the same bits.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "solver/checkpoint/checkpoints.hpp"
#include "solver/report/solve_report.hpp"
#include "solver/session/many/kept_solutions.hpp"
#include "solver/session/many/solve_many.hpp"

namespace staghorn {

// What a job of several batches has come to.
struct BatchesSoFar {
  BatchesSoFar(std::size_t n_rhs, std::size_t n_batches)
      : rhs(n_rhs),
        is_done(n_rhs),
        shift_iterations(n_batches),
        sloppy_shift_iterations(n_batches),
        shift_columns(n_batches) {}
  std::vector<RhsReport> rhs;  // mass by mass, source by source
  std::vector<bool> is_done;   // each of them
  std::size_t in_flight = 0;   // the batch that is solved now
  // In multi-shift CG, of each batch that is done.
  std::vector<double> shift_iterations, sloppy_shift_iterations, shift_columns;
  std::string took_over;
  void visit(const Archive& archive);  // all but rhs and is_done
};

class BatchCheckpoint {
 public:
  // Arguments as those of ManyCheckpoint; `so_far` is asked for whenever a state is written. All but `identity` must
  // outlive this.
  BatchCheckpoint(const Communicator& communicator, const Lattice& lattice, const SolveRequest& request,
                  std::map<std::string, std::string> identity, SolutionSink* solutions, BatchesSoFar& so_far);

  // Fills `so_far` with what is known; `again` takes the solutions that are done, on the host.
  void go_on(const TakeSolution& again);
  // The search of this batch begins: it goes on from the state, if that is of this batch.
  void begin(std::size_t batch);
  // A solution was taken.
  void remember(std::size_t number, const VectorField& x) { solutions_.remember(number, x); }

  Checkpoints& of_searches() { return checkpoints_; }

 private:
  KeptSolutions solutions_;
  BatchesSoFar& so_far_;
  Checkpoints checkpoints_;
};

}  // namespace staghorn
