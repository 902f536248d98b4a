#include "solver/checkpoint/checkpoints.hpp"

#include <algorithm>

#include "dirac/fields/plain_algebra.hpp"

namespace staghorn {

namespace {

// Of each right-hand side the vectors of the search, one right-hand side after the other.
SharedFields fields_of(const std::vector<ColorVectorField*>& vectors) {
  SharedFields fields;
  for (int rhs = 0; rhs < vectors.front()->n_rhs(); ++rhs) {
    std::vector<ColumnVector> of_rhs;
    for (ColorVectorField* const vector : vectors) of_rhs.push_back({vector, rhs});
    fields.add(of_rhs);
  }
  return fields;
}

}  // namespace

Checkpoints::Checkpoints(const Communicator& communicator, const Lattice& lattice, const AskedCheckpoint& asked,
                         std::map<std::string, std::string> identity)
    : communicator_(communicator), lattice_(lattice), series_(communicator, lattice, asked, std::move(identity)) {}

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
    for (const Parity parity : {Parity::even, Parity::odd})
      if (n_solutions == 0) clear_parity(x, parity);
  VectorField space(lattice_);
  if (n_solutions > 0)
    read_checkpoint_vectors(communicator_, series_.found_path(), space, [&](std::int64_t k) {
      if (k >= std::int64_t(first) && k < std::int64_t(first + solutions.size()))
        solutions[std::size_t(k) - first] = space;
    });
}

void Checkpoints::keep(const SearchState& state) {
  const SharedFields fields = fields_of(state.vectors);
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
    return at < n_solutions ? (space = *solutions[at]) : fields.unpack(at - n_solutions, space);
  };
  series_.write(archive, {archive.counted(), state.counted}, std::int64_t(n_solutions + fields.size()), vector);
}

void Checkpoints::restore(const std::vector<ColorVectorField*>& vectors) {
  const auto [n_solutions, n_vectors] = counts();
  const SharedFields fields = fields_of(vectors);
  if (n_vectors != vectors.size() || series_.found()->n_vectors != std::int64_t(n_solutions + fields.size()))
    throw FileError("checkpoint " + series_.found_path(),
                    std::to_string(vectors.size()) + " vectors of each right-hand side", n_vectors);
  VectorField space(lattice_);
  read_checkpoint_vectors(communicator_, series_.found_path(), space, [&, first = n_solutions](std::int64_t k) {
    if (std::size_t(k) >= first) fields.pack(std::size_t(k) - first, space);
  });
  handed_over_ = true;
}

}  // namespace staghorn
