#include "solver/session/many/batch_checkpoint.hpp"

namespace staghorn {

BatchCheckpoint::BatchCheckpoint(const Communicator& communicator, const Lattice& lattice, const SolveRequest& request,
                                 std::map<std::string, std::string> identity, SolutionSink* solutions,
                                 BatchesSoFar& so_far)
    : solutions_(communicator, lattice, solutions, "solution"),
      so_far_(so_far),
      checkpoints_(communicator, lattice, request, std::move(identity)) {
  checkpoints_.add_job([this](const Archive& archive) {
    solutions_.write(archive, so_far_.rhs, so_far_.is_done);
    archive("batches", so_far_);
  });
}

void BatchesSoFar::visit(const Archive& archive) {
  archive("in_flight", in_flight);
  archive("shift_iterations", shift_iterations, shift_iterations.size());
  archive("sloppy_shift_iterations", sloppy_shift_iterations, sloppy_shift_iterations.size());
  archive("shift_columns", shift_columns, shift_columns.size());
  archive("took_over", took_over);
}

void BatchCheckpoint::go_on(const TakeSolution& again) {
  const Archive* const kept = checkpoints_.found();
  if (!kept) return solutions_.begin_anew();
  solutions_.take_back(*kept, so_far_.rhs, so_far_.is_done, again,
                       [this](const std::string& text) { checkpoints_.note(text); });
  (*kept)("batches", so_far_);
}

void BatchCheckpoint::begin(std::size_t batch) {
  if (checkpoints_.found() && batch != so_far_.in_flight) checkpoints_.forget();  // its files will hold other states
  so_far_.in_flight = batch;
}

}  // namespace staghorn
