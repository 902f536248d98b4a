#include "solver/session/many/batch_checkpoint.hpp"

#include "dirac/fields/plain_algebra.hpp"
#include "dirac/fields/site_hash.hpp"
#include "solver/session/many/kept_solutions.hpp"
#include "solver/session/pass_memory.hpp"

namespace staghorn {

BatchCheckpoint::BatchCheckpoint(const Communicator& communicator, const Lattice& lattice, const SolveRequest& request,
                                 std::map<std::string, std::string> identity, SolutionSink* solutions,
                                 BatchesSoFar& so_far)
    : communicator_(communicator),
      lattice_(lattice),
      solutions_(sink_that_goes_on(solutions)),
      so_far_(so_far),
      checkpoints_(communicator, lattice, checkpoint_place(request), std::move(identity)),
      hashes_(so_far.rhs.size(), 0) {
  checkpoints_.add_job([this] { return numbers(); });
}

SearchNumbers BatchCheckpoint::numbers() {
  solutions_->flush();
  SearchNumbers numbers;
  std::vector<RhsReport> reports;
  std::vector<std::uint64_t> hashes;
  std::vector<double>& done = numbers["job.done"];
  for (std::size_t number = 0; number < so_far_.rhs.size(); ++number) {
    if (!so_far_.is_done[number]) continue;
    done.push_back(double(number));
    hashes.push_back(hashes_[number]);
    reports.push_back(so_far_.rhs[number]);
  }
  put_hashes(numbers, "job.", hashes);
  put_reports(numbers, "job.rhs.", reports);
  numbers["job.in_flight"] = {double(so_far_.in_flight)};
  numbers["job.shift_iterations"] = so_far_.shift_iterations;
  numbers["job.shift_columns"] = so_far_.shift_columns;
  put_text(numbers, "job.took_over", so_far_.took_over);
  return numbers;
}

void BatchCheckpoint::go_on(const TakeSolution& again) {
  const SearchNumbers* const kept = checkpoints_.found();
  if (!kept) return solutions_->begin_anew();
  const std::vector<double>& done = get(*kept, "job.done");
  std::vector<RhsReport> reports = get_reports(*kept, "job.rhs.", done.size());
  const std::vector<std::uint64_t> hashes = get_hashes(*kept, "job.", done.size());
  VectorField x(lattice_);
  for (std::size_t i = 0; i < done.size(); ++i) {
    const auto number = std::size_t(done[i]);
    if (!read_back_whole(communicator_, *solutions_, number, hashes[i], x)) {
      checkpoints_.note("solution " + std::to_string(number) + " is solved again: it is not in the unfinished file");
      continue;
    }
    again(number, x);
    hashes_[number] = hashes[i];
    so_far_.rhs[number] = std::move(reports[i]);
    so_far_.is_done[number] = true;
  }
  so_far_.in_flight = std::size_t(get_number(*kept, "job.in_flight"));
  so_far_.shift_iterations = get(*kept, "job.shift_iterations", so_far_.shift_iterations.size());
  so_far_.shift_columns = get(*kept, "job.shift_columns", so_far_.shift_columns.size());
  so_far_.took_over = get_text(*kept, "job.took_over");
}

void BatchCheckpoint::begin(std::size_t batch) {
  if (checkpoints_.found() && batch != so_far_.in_flight) checkpoints_.forget();  // its files will hold other states
  so_far_.in_flight = batch;
}

void BatchCheckpoint::remember(std::size_t number, const VectorField& x) {
  hashes_[number] = site_hash(communicator_, x);
}

}  // namespace staghorn
