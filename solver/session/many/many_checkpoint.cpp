#include "solver/session/many/many_checkpoint.hpp"

#include <algorithm>

#include "dirac/fields/plain_algebra.hpp"
#include "solver/session/many/kept_solutions.hpp"

namespace staghorn {

namespace {

// Two vectors of one parity share a field: the first on even sites, the second on odd ones.
constexpr Parity places[] = {Parity::even, Parity::odd};
std::size_t fields_of(std::size_t n_vectors) { return (n_vectors + 1) / 2; }

// A column in flight, beside the state of its passes and of its search.
struct KeptColumn {
  std::size_t source = 0, vectors = 0;
  bool has_solution = false;
  void visit(const Archive& archive) {
    archive("source", source);
    archive("vectors", vectors);
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
      series_(communicator, lattice, checkpoint_place(request), std::move(identity)) {}

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
  const std::int64_t n_solutions =
      std::count_if(columns.begin(), columns.end(), [](const KeptColumn& c) { return c.has_solution; });
  VectorField space(lattice_);
  const std::string& path = series_.found_path();
  read_checkpoint_vectors(communicator_, path, space, [&](std::int64_t k) {
    if (k < n_solutions) so_far.push_back(space);
  });
  std::int64_t first = n_solutions;
  std::size_t at = 0;
  std::vector<std::int64_t> first_of(n);
  for (std::size_t column = 0; column < n; ++column) {
    const auto& [source, vectors, has_solution] = columns[column];
    first_of[column] = first;
    first += std::int64_t(fields_of(vectors));
    const VectorField* const solution = has_solution ? &so_far[at++] : nullptr;
    state(name_of_column(column),
          [&, source = source](const Archive& kept) { batch.resume(source, make(source), solution, kept); });
    in_flight.push_back(source);
  }
  read_checkpoint_vectors(communicator_, path, space, [&](std::int64_t k) {
    for (std::size_t column = 0; column < n; ++column) {
      const std::vector<ColumnVector> parts = batch.vectors(column);
      const std::int64_t field = k - first_of[column];
      if (field < 0 || field >= std::int64_t(fields_of(parts.size()))) continue;
      for (std::size_t half = 0; half < 2; ++half)
        if (const std::size_t v = std::size_t(2 * field) + half; v < parts.size())
          parts[v].field->pack_exactly(places[half], parts[v].rhs, space);
    }
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
  std::vector<std::vector<ColumnVector>> parts;
  for (std::size_t column = 0; column < std::size_t(batch.columns()); ++column) {
    if (!batch.is_occupied(column)) continue;
    const VectorField& x = batch.solution_so_far(column);
    const bool begun = !is_zero(communicator_, x);
    if (begun) so_far.push_back(&x);
    state(name_of_column(parts.size()), [&](const Archive& kept) { batch.visit(kept, column); });
    parts.push_back(batch.vectors(column));
    columns.push_back({batch.source(column), parts.back().size(), begun});
  }
  state("columns", columns);
  std::int64_t n_vectors = std::int64_t(so_far.size());
  std::vector<std::pair<std::size_t, std::size_t>> fields;  // column and field of each vector of the file
  for (std::size_t column = 0; column < parts.size(); ++column)
    for (std::size_t field = 0; field < fields_of(parts[column].size()); ++field, ++n_vectors)
      fields.emplace_back(column, field);
  n_vectors = std::max<std::int64_t>(n_vectors, 1);  // a file has at least one
  VectorField space(lattice_);
  const auto vector = [&](std::int64_t k) -> const VectorField& {
    if (k < std::int64_t(so_far.size())) return space = *so_far[std::size_t(k)], space;
    if (fields.empty()) return space;
    const auto& [column, field] = fields[std::size_t(k) - so_far.size()];
    for (std::size_t half = 0; half < 2; ++half)
      if (const std::size_t v = 2 * field + half; v < parts[column].size())
        parts[column][v].field->unpack_exactly(places[half], parts[column][v].rhs, space);
      else
        clear_parity(space, places[half]);
    return space;
  };
  series_.write(state, {use.iterations, "iterations"}, n_vectors, vector);
}

}  // namespace staghorn
