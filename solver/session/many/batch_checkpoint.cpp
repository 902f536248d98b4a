#include "solver/session/many/batch_checkpoint.hpp"

#include "solver/session/pass_memory.hpp"

namespace staghorn {

BatchCheckpoint::BatchCheckpoint(const Communicator& communicator, const Lattice& lattice, const SolveRequest& request,
                                 std::map<std::string, std::string> identity, SolutionSink* solutions,
                                 BatchesSoFar& so_far)
    : solutions_(communicator, lattice, solutions, {"job.", "job.rhs.", "solution"}),
      so_far_(so_far),
      checkpoints_(communicator, lattice, checkpoint_place(request), std::move(identity)) {
  checkpoints_.add_job([this] { return numbers(); });
}

SearchNumbers BatchCheckpoint::numbers() {
  SearchNumbers numbers;
  solutions_.put(numbers, so_far_.rhs, so_far_.is_done);
  numbers["job.in_flight"] = {double(so_far_.in_flight)};
  numbers["job.shift_iterations"] = so_far_.shift_iterations;
  numbers["job.sloppy_shift_iterations"] = so_far_.sloppy_shift_iterations;
  numbers["job.shift_columns"] = so_far_.shift_columns;
  put_text(numbers, "job.took_over", so_far_.took_over);
  return numbers;
}

void BatchCheckpoint::go_on(const TakeSolution& again) {
  const SearchNumbers* const kept = checkpoints_.found();
  if (!kept) return solutions_.begin_anew();
  solutions_.take_back(*kept, so_far_.rhs, so_far_.is_done, again,
                       [this](const std::string& text) { checkpoints_.note(text); });
  so_far_.in_flight = std::size_t(get_number(*kept, "job.in_flight"));
  so_far_.shift_iterations = get(*kept, "job.shift_iterations", so_far_.shift_iterations.size());
  so_far_.sloppy_shift_iterations = get(*kept, "job.sloppy_shift_iterations", so_far_.sloppy_shift_iterations.size());
  so_far_.shift_columns = get(*kept, "job.shift_columns", so_far_.shift_columns.size());
  so_far_.took_over = get_text(*kept, "job.took_over");
}

void BatchCheckpoint::begin(std::size_t batch) {
  if (checkpoints_.found() && batch != so_far_.in_flight) checkpoints_.forget();  // its files will hold other states
  so_far_.in_flight = batch;
}

}  // namespace staghorn
