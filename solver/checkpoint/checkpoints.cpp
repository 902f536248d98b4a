#include "solver/checkpoint/checkpoints.hpp"

#include <algorithm>

#include "dirac/fields/plain_algebra.hpp"

namespace staghorn {

namespace {

// Two vectors of one parity share a field.
std::size_t fields_of(std::size_t n_vectors) { return (n_vectors + 1) / 2; }
constexpr Parity places[] = {Parity::even, Parity::odd};

long iterations_in(const SearchNumbers& numbers) {
  long most = 0;
  for (const auto& [name, list] : numbers)
    if (name == "iterations" || name == "mixed.rounds" || name == "block.rounds" || name == "deflated.rounds" ||
        name == "passes.cg_iterations" || name == "lanczos.counts")
      most += list.empty() ? 0 : long(list[0]);
  return most;
}

std::string reached(const SearchNumbers& numbers) {
  if (const auto counts = numbers.find("lanczos.counts"); counts != numbers.end())
    return std::to_string(long(counts->second.at(0))) + " operator calls";
  return std::to_string(iterations_in(numbers)) + " iterations of this pass";
}

}  // namespace

Checkpoints::Checkpoints(const Communicator& communicator, const Lattice& lattice, const CheckpointPlace& place,
                         std::map<std::string, std::string> identity)
    : communicator_(communicator), lattice_(lattice), series_(communicator, lattice, place, std::move(identity)) {
  if (series_.found()) series_.set_resumed_iterations(iterations_in(series_.found()->numbers));
}

void Checkpoints::surround(std::function<SearchNumbers()> numbers, std::span<VectorField> solutions) {
  numbers_around_ = std::move(numbers);
  solutions_ = solutions;
}

const SearchNumbers* Checkpoints::restore_surroundings() {
  if (kept() && enclosures_.empty()) read_solutions(solutions_, 0, solutions_.size());
  return kept();
}

void Checkpoints::enclose(std::function<SearchNumbers()> numbers, std::span<VectorField> solutions, std::size_t first) {
  numbers_around_ = {};
  if (!enclosures_.empty()) first += enclosures_.back().first;
  enclosures_.push_back({std::move(numbers), solutions, first});
}

void Checkpoints::end_enclosure() {
  numbers_around_ = {};
  enclosures_.pop_back();
}

const SearchNumbers* Checkpoints::restore_enclosure() {
  if (kept())
    read_solutions(enclosures_.back().solutions, enclosures_.back().first, enclosures_.front().solutions.size());
  return kept();
}

std::vector<const VectorField*> Checkpoints::solutions_so_far() const {
  std::vector<const VectorField*> fields;
  if (enclosures_.empty())
    for (const VectorField& x : solutions_) fields.push_back(&x);
  else
    fields.resize(enclosures_.front().solutions.size());
  for (const Enclosure& enclosure : enclosures_)
    for (std::size_t k = 0; k < enclosure.solutions.size(); ++k) fields[enclosure.first + k] = &enclosure.solutions[k];
  return fields;
}

void Checkpoints::read_solutions(std::span<VectorField> solutions, std::size_t first, std::size_t all) {
  const auto n_solutions = std::int64_t(get_number(series_.found()->numbers, "keeper.solutions"));
  if (n_solutions != 0 && n_solutions != std::int64_t(all))
    throw FileError("checkpoint " + series_.found_path(), std::to_string(all) + " solutions", n_solutions);
  for (VectorField& x : solutions)
    for (const Parity parity : places)
      if (n_solutions == 0) clear_parity(x, parity);
  VectorField space(lattice_);
  if (n_solutions > 0)
    read_checkpoint_vectors(communicator_, series_.found_path(), space, [&](std::int64_t k) {
      if (k >= std::int64_t(first) && k < std::int64_t(first + solutions.size()))
        solutions[std::size_t(k) - first] = space;
    });
}

void Checkpoints::keep(const SearchState& state) {
  const auto n_rhs = std::size_t(state.vectors.front()->n_rhs());
  const std::size_t fields = fields_of(state.vectors.size());
  const std::vector<const VectorField*> solutions = solutions_so_far();
  const bool has_solutions = std::any_of(solutions.begin(), solutions.end(),
                                         [&](const VectorField* x) { return !is_zero(communicator_, *x); });
  const std::size_t n_solutions = has_solutions ? solutions.size() : 0;
  SearchNumbers numbers = state.numbers;
  if (numbers_around_) numbers.merge(numbers_around_());
  for (const Enclosure& enclosure : enclosures_) numbers.merge(enclosure.numbers());
  if (numbers_of_job_) numbers.merge(numbers_of_job_());
  numbers["keeper.solutions"] = {double(n_solutions)};
  numbers["keeper.vectors"] = {double(state.vectors.size())};
  VectorField space(lattice_);
  const auto vector = [&](std::int64_t k) -> const VectorField& {
    const auto at = std::size_t(k);
    if (at < n_solutions) return space = *solutions[at], space;
    const std::size_t rhs = (at - n_solutions) / fields, field = (at - n_solutions) % fields;
    for (std::size_t half = 0; half < 2; ++half)
      if (const std::size_t v = 2 * field + half; v < state.vectors.size())
        state.vectors[v]->unpack_exactly(places[half], int(rhs), space);
      else
        clear_parity(space, places[half]);
    return space;
  };
  series_.write(std::move(numbers), std::int64_t(n_solutions + n_rhs * fields), vector, reached(state.numbers));
}

const SearchNumbers* Checkpoints::kept_numbers() { return kept(); }

void Checkpoints::restore(const std::vector<ColorVectorField*>& vectors) {
  const auto n_solutions = std::size_t(get(series_.found()->numbers, "keeper.solutions", 1)[0]);
  const std::size_t fields = fields_of(vectors.size()), n_rhs = std::size_t(vectors.front()->n_rhs());
  if (get(series_.found()->numbers, "keeper.vectors", 1)[0] != double(vectors.size()) ||
      series_.found()->n_vectors != std::int64_t(n_solutions + n_rhs * fields))
    throw FileError("checkpoint " + series_.found_path(),
                    std::to_string(vectors.size()) + " vectors of each right-hand side",
                    get(series_.found()->numbers, "keeper.vectors", 1)[0]);
  VectorField space(lattice_);
  read_checkpoint_vectors(communicator_, series_.found_path(), space, [&](std::int64_t k) {
    if (std::size_t(k) < n_solutions) return;
    const std::size_t rhs = (std::size_t(k) - n_solutions) / fields, field = (std::size_t(k) - n_solutions) % fields;
    for (std::size_t half = 0; half < 2 && 2 * field + half < vectors.size(); ++half)
      vectors[2 * field + half]->pack_exactly(places[half], int(rhs), space);
  });
  handed_over_ = true;
}

}  // namespace staghorn
