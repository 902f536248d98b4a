#include "solver/session/many/many_checkpoint.hpp"

#include <algorithm>

#include "dirac/fields/plain_algebra.hpp"
#include "solver/session/many/kept_solutions.hpp"

namespace staghorn {

namespace {

// A column in flight, beside the state of its passes and of its search.
struct KeptColumn {
  std::size_t source = 0;
  bool has_solution = false;
  void visit(const Archive& archive) {
    archive("source", source);
    archive("has_solution", has_solution);
  }
};

std::string name_of_column(std::size_t column) { return "column_" + std::to_string(column); }

void visit(const Archive& archive, SpectrumEstimate& spectrum, BatchUse& use) {
  archive("use", use);
  archive("smallest", spectrum.smallest);
  archive("largest", spectrum.largest);
}

}  // namespace

ManyCheckpoint::ManyCheckpoint(const Communicator& communicator, const Lattice& lattice, const SolveRequest& request,
                               std::map<std::string, std::string> identity, SolutionSink* solutions)
    : communicator_(communicator),
      lattice_(lattice),
      solutions_(communicator, lattice, solutions, "source"),
      series_(communicator, lattice, request, std::move(identity)) {}

std::vector<std::size_t> ManyCheckpoint::go_on(CertifiedSolve& whole, std::vector<bool>& is_done, RefilledBatch& batch,
                                               const std::function<VectorField(std::size_t)>& make,
                                               const TakeSolution& again) {
  if (!series_.found()) {
    solutions_.begin_anew();
    return {};
  }
  const Archive& state = series_.found()->state;
  solutions_.take_back(state, whole.rhs, is_done, again, [this](const std::string& text) { series_.note(text); });
  BatchUse use{batch.columns()};
  visit(state, whole.spectrum, use);
  batch.set_use_before(use);
  return take_columns(batch, make);
}

std::vector<std::size_t> ManyCheckpoint::take_columns(RefilledBatch& batch,
                                                      const std::function<VectorField(std::size_t)>& make) {
  const Archive& state = series_.found()->state;
  std::vector<KeptColumn> columns;
  state("columns", columns);
  const std::size_t n = std::min(columns.size(), std::size_t(batch.columns()));
  std::vector<std::size_t> in_flight;
  // The solutions so far, then the vectors of one column after the other.
  std::vector<VectorField> so_far;
  const auto n_solutions = std::size_t(std::ranges::count(columns, true, &KeptColumn::has_solution));
  VectorField space(lattice_);
  read_checkpoint_vectors(communicator_, series_.found_path(), space, [&](std::int64_t k) {
    if (std::size_t(k) < n_solutions) so_far.push_back(space);
  });
  SharedFields fields;
  std::size_t at = 0;
  for (std::size_t column = 0; column < n; ++column) {
    const std::size_t source = in_flight.emplace_back(columns[column].source);
    const VectorField* const solution = columns[column].has_solution ? &so_far[at++] : nullptr;
    state(name_of_column(column), [&](const Archive& kept) { batch.resume(source, make(source), solution, kept); });
    fields.add(batch.vectors(column));
  }
  read_checkpoint_vectors(communicator_, series_.found_path(), space, [&](std::int64_t k) {
    if (const std::size_t field = std::size_t(k) - n_solutions; field < fields.size()) fields.pack(field, space);
  });
  return in_flight;
}

void ManyCheckpoint::keep(const CertifiedSolve& whole, const std::vector<bool>& is_done, RefilledBatch& batch) {
  const Archive state;
  solutions_.write(state, whole.rhs, is_done);
  SpectrumEstimate spectrum = whole.spectrum;
  BatchUse use = batch.use();
  visit(state, spectrum, use);
  std::vector<KeptColumn> columns;
  std::vector<const VectorField*> so_far;
  SharedFields fields;
  for (std::size_t column = 0; column < std::size_t(batch.columns()); ++column) {
    if (!batch.is_occupied(column)) continue;
    const VectorField& x = batch.solution_so_far(column);
    const bool begun = !is_zero(communicator_, x);
    if (begun) so_far.push_back(&x);
    state(name_of_column(columns.size()), [&](const Archive& kept) { batch.visit(kept, column); });
    fields.add(batch.vectors(column));
    columns.push_back({batch.source(column), begun});
  }
  state("columns", columns);
  const auto n_vectors = std::int64_t(so_far.size() + fields.size());  // a file has at least one
  VectorField space(lattice_);
  const auto vector = [&](std::int64_t k) -> const VectorField& {
    const auto at = std::size_t(k);
    if (n_vectors == 0) return space;
    return at < so_far.size() ? (space = *so_far[at]) : fields.unpack(at - so_far.size(), space);
  };
  series_.write(state, {use.iterations, "iterations"}, std::max<std::int64_t>(n_vectors, 1), vector);
}

}  // namespace staghorn
