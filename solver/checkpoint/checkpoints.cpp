#include "solver/checkpoint/checkpoints.hpp"

#include <algorithm>
#include <filesystem>

#include "dirac/fields/plain_algebra.hpp"
#include "halo/watch/activity.hpp"
#include "halo/watch/signal_watch.hpp"
#include "lattice_io/files/output_file.hpp"

namespace staghorn {

namespace {

// Two vectors of one parity share a field.
std::size_t fields_of(std::size_t n_vectors) { return (n_vectors + 1) / 2; }
constexpr Parity places[] = {Parity::even, Parity::odd};

bool exists(const Communicator& communicator, const std::string& path) {
  std::error_code error;
  return communicator.any(communicator.is_root() && std::filesystem::exists(path, error));
}

long iterations_in(const SearchNumbers& numbers) {
  long most = 0;
  for (const auto& [name, list] : numbers)
    if (name == "iterations" || name == "mixed.iterations" || name == "passes.cg_iterations")
      most += list.empty() ? 0 : long(list[0]);
  return most;
}

}  // namespace

Checkpoints::Checkpoints(const Communicator& communicator, const Lattice& lattice, const SolveRequest& request,
                         std::map<std::string, std::string> identity)
    : communicator_(communicator),
      lattice_(lattice),
      path_(*request.checkpoint),
      every_(request.checkpoint_every),
      identity_(std::move(identity)),
      saves_seen_(times_asked_to_save()) {
  summary_.file = path_;
  if (request.resume)
    find_state();
  else if (exists(communicator, path_))
    throw Error(path_ + " exists already; `resume` goes on from it");
  check_writable(communicator, path_, true);
}

void Checkpoints::find_state() {
  for (const std::string& path : {path_, previous_checkpoint(path_)}) {
    if (!exists(communicator_, path)) continue;
    CheckpointContents contents;
    try {
      contents = read_checkpoint(communicator_, path);
      VectorField space(lattice_);
      read_checkpoint_vectors(communicator_, path, space, {});
    } catch (const LocalError&) {
      throw;
    } catch (const Error& error) {
      summary_.notes.push_back(error.what());
      continue;
    }
    for (const auto& [name, expected] : identity_)
      if (const std::string& found = contents.texts[name]; found != expected)
        throw Error("checkpoint " + path + ": " + name, expected, found.empty() ? "none" : found);
    found_ = std::move(contents);
    found_path_ = summary_.resumed_from = path;
    summary_.resumed_iterations = iterations_in(found_->numbers);
    return;
  }
  if (!summary_.notes.empty()) throw Error("no checkpoint can be used: " + summary_.notes.front());
}

void Checkpoints::surround(std::function<SearchNumbers()> numbers, std::span<VectorField> solutions) {
  numbers_around_ = std::move(numbers);
  solutions_ = solutions;
}

const SearchNumbers* Checkpoints::restore_surroundings() {
  if (!found_) return nullptr;
  const auto n_solutions = std::int64_t(get(found_->numbers, "keeper.solutions", 1)[0]);
  if (n_solutions > std::int64_t(solutions_.size()))
    throw Error("checkpoint " + found_path_, std::to_string(solutions_.size()) + " solutions", n_solutions);
  for (VectorField& x : solutions_)
    for (const Parity parity : places)
      if (n_solutions == 0) clear_parity(x, parity);
  VectorField space(lattice_);
  if (n_solutions > 0)
    read_checkpoint_vectors(communicator_, found_path_, space, [&](std::int64_t k) {
      if (k < n_solutions) solutions_[std::size_t(k)] = space;
    });
  return &found_->numbers;
}

bool Checkpoints::is_due() {
  const bool save = times_asked_to_save() != saves_seen_ || since_last_.seconds() >= every_;
  const Due here = signal_asked_to_end() ? Due::end : save ? Due::save : Due::no;
  due_ = Due(int(communicator_.max(double(here))));
  return due_ != Due::no;
}

void Checkpoints::write(const SearchState& state) {
  const auto n_rhs = std::size_t(state.vectors.front()->n_rhs());
  const std::size_t fields = fields_of(state.vectors.size());
  const bool has_solutions = std::any_of(solutions_.begin(), solutions_.end(),
                                         [&](const VectorField& x) { return !is_zero(communicator_, x); });
  const std::size_t n_solutions = has_solutions ? solutions_.size() : 0;
  CheckpointContents contents{identity_, state.numbers, std::int64_t(n_solutions + n_rhs * fields)};
  if (numbers_around_) contents.numbers.merge(numbers_around_());
  contents.numbers["keeper.solutions"] = {double(n_solutions)};
  contents.numbers["keeper.vectors"] = {double(state.vectors.size())};
  VectorField space(lattice_);
  const auto vector = [&](std::int64_t k) -> const VectorField& {
    const auto at = std::size_t(k);
    if (at < n_solutions) return space = solutions_[at], space;
    const std::size_t rhs = (at - n_solutions) / fields, field = (at - n_solutions) % fields;
    for (std::size_t half = 0; half < 2; ++half)
      if (const std::size_t v = 2 * field + half; v < state.vectors.size())
        state.vectors[v]->unpack_exactly(places[half], int(rhs), space);
      else
        clear_parity(space, places[half]);
    return space;
  };
  summary_.bytes = double(write_checkpoint(communicator_, path_, lattice_, contents, vector));
  ++summary_.written;
}

void Checkpoints::keep(const SearchState& state) {
  const Activity activity("checkpoint");
  const Stopwatch writing;
  saves_seen_ = times_asked_to_save();
  try {
    write(state);
  } catch (const LocalError&) {
    throw;
  } catch (const Error& error) {  // a full disk is no reason to lose the solve
    if (due_ == Due::end) throw;
    summary_.notes.push_back(error.what());
  }
  summary_.seconds += writing.seconds();
  since_last_ = Stopwatch();
  if (due_ == Due::end)
    throw EndedWithCheckpoint("ended by a signal after " + std::to_string(iterations_in(state.numbers)) +
                              " iterations of this pass; `resume` goes on from " + path_);
}

const SearchNumbers* Checkpoints::kept_numbers() { return found_ && !handed_over_ ? &found_->numbers : nullptr; }

void Checkpoints::restore(const std::vector<ColorVectorField*>& vectors) {
  const auto n_solutions = std::size_t(get(found_->numbers, "keeper.solutions", 1)[0]);
  const std::size_t fields = fields_of(vectors.size()), n_rhs = std::size_t(vectors.front()->n_rhs());
  if (get(found_->numbers, "keeper.vectors", 1)[0] != double(vectors.size()) ||
      found_->n_vectors != std::int64_t(n_solutions + n_rhs * fields))
    throw Error("checkpoint " + found_path_, std::to_string(vectors.size()) + " vectors of each right-hand side",
                get(found_->numbers, "keeper.vectors", 1)[0]);
  VectorField space(lattice_);
  read_checkpoint_vectors(communicator_, found_path_, space, [&](std::int64_t k) {
    if (std::size_t(k) < n_solutions) return;
    const std::size_t rhs = (std::size_t(k) - n_solutions) / fields, field = (std::size_t(k) - n_solutions) % fields;
    for (std::size_t half = 0; half < 2 && 2 * field + half < vectors.size(); ++half)
      vectors[2 * field + half]->pack_exactly(places[half], int(rhs), space);
  });
  handed_over_ = true;
}

CheckpointSummary Checkpoints::summary() const {
  CheckpointSummary summary = summary_;
  summary.seconds = communicator_.max(summary.seconds);
  return summary;
}

}  // namespace staghorn
