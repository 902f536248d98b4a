#include "solver/checkpoint/checkpoints.hpp"

#include <algorithm>

#include "dirac/fields/plain_algebra.hpp"

namespace staghorn {

namespace {

// Two vectors of one parity share a field.
std::size_t fields_of(std::size_t n_vectors) { return (n_vectors + 1) / 2; }
constexpr Parity places[] = {Parity::even, Parity::odd};

}  // namespace

Checkpoints::Checkpoints(const Communicator& communicator, const Lattice& lattice, const CheckpointPlace& place,
                         std::map<std::string, std::string> identity)
    : communicator_(communicator), lattice_(lattice), series_(communicator, lattice, place, std::move(identity)) {}

void Checkpoints::Counts::visit(const Archive& archive) {
  archive("solutions", solutions);
  archive("vectors", vectors);
}

Checkpoints::Counts Checkpoints::counts() const {
  Counts counts;
  series_.found()->state("fields", counts);
  return counts;
}

void Checkpoints::surround(VisitState visit, std::span<VectorField> solutions) {
  visit_surroundings_ = std::move(visit);
  solutions_ = solutions;
  if (!kept()) return;
  if (enclosures_.empty()) read_solutions(solutions_, 0, solutions_.size());
  visit_surroundings_(*kept());
}

void Checkpoints::enclose(VisitState visit, std::span<VectorField> solutions, std::size_t first) {
  visit_surroundings_ = {};
  if (!enclosures_.empty()) first += enclosures_.back().first;
  enclosures_.push_back({std::move(visit), solutions, first});
  if (!kept()) return;
  read_solutions(solutions, first, enclosures_.front().solutions.size());
  enclosures_.back().visit(*kept());
}

void Checkpoints::end_enclosure() {
  visit_surroundings_ = {};
  enclosures_.pop_back();
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
  const auto n_solutions = std::int64_t(counts().solutions);
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
  Archive archive;
  state.visit(archive);
  if (visit_surroundings_) visit_surroundings_(archive);
  for (const Enclosure& enclosure : enclosures_) enclosure.visit(archive);
  if (visit_job_) visit_job_(archive);
  archive("fields", Counts{n_solutions, state.vectors.size()});
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
  series_.write(archive, {archive.counted(), state.counted}, std::int64_t(n_solutions + n_rhs * fields), vector);
}

void Checkpoints::restore(const std::vector<ColorVectorField*>& vectors) {
  const auto [n_solutions, n_vectors] = counts();
  const std::size_t fields = fields_of(vectors.size()), n_rhs = std::size_t(vectors.front()->n_rhs());
  if (n_vectors != vectors.size() || series_.found()->n_vectors != std::int64_t(n_solutions + n_rhs * fields))
    throw FileError("checkpoint " + series_.found_path(),
                    std::to_string(vectors.size()) + " vectors of each right-hand side", n_vectors);
  VectorField space(lattice_);
  read_checkpoint_vectors(communicator_, series_.found_path(), space, [&, first = n_solutions](std::int64_t k) {
    if (std::size_t(k) < first) return;
    const std::size_t rhs = (std::size_t(k) - first) / fields, field = (std::size_t(k) - first) % fields;
    for (std::size_t half = 0; half < 2 && 2 * field + half < vectors.size(); ++half)
      vectors[2 * field + half]->pack_exactly(places[half], int(rhs), space);
  });
  handed_over_ = true;
}

}  // namespace staghorn
