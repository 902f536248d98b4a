// The state of a search for eigenpairs: vectors up to the next one, H, and where the search is.
#include "solver/eigen/lanczos_search.hpp"

namespace staghorn {

void LanczosSearch::keep_state() {
  SearchState state;
  const int vectors = filled_ + next_;
  for (int i = 0; i < vectors; ++i) state.vectors.push_back(&basis_[i]);
  SearchNumbers& numbers = state.numbers;
  basis_.put_into(numbers);
  std::vector<double>& h = numbers["lanczos.h"];  // its lower triangle
  for (int i = 0; i < vectors; ++i)
    for (int j = 0; j <= i; ++j) h.insert(h.end(), {h_(i, j).re, h_(i, j).im});
  numbers["lanczos.filled"] = {double(filled_), double(next_)};
  numbers["lanczos.expected"] = {expected_};
  numbers["lanczos.filter"] = {filter_.from(), filter_.to(), double(filter_.degree())};
  numbers["lanczos.stage"] = {double(stage_.ordered_before), double(stage_.without_growth), double(stage_.missing),
                              double(stage_.probed), stage_.last};
  numbers["lanczos.counts"] = {double(counts_.calls),         double(counts_.filtered),       double(counts_.restarts),
                               double(counts_.widened),       double(counts_.random_vectors), double(counts_.probes),
                               double(counts_.found_missing), double(counts_.converged),      lowest_of_probe_};
  aim_.keeper->keep(state);
}

void LanczosSearch::take_state(const SearchNumbers& numbers) {
  const std::vector<double>& filled = get(numbers, "lanczos.filled", 2);
  filled_ = int(filled[0]), next_ = int(filled[1]);
  const int vectors = filled_ + next_;
  if (filled_ < 0 || next_ < 0 || next_ > block_.n_rhs() || vectors > basis_.size())
    throw Error("checkpoint: lanczos.filled", "at most " + std::to_string(basis_.size()), vectors);
  basis_.take_from(numbers);
  const std::vector<double>& h = get(numbers, "lanczos.h", std::size_t(vectors) * std::size_t(vectors + 1));
  std::size_t at = 0;
  for (int i = 0; i < vectors; ++i)
    for (int j = 0; j <= i; ++j, at += 2) h_(i, j) = {h[at], h[at + 1]};
  expected_ = get_number(numbers, "lanczos.expected");
  const std::vector<double>& filter = get(numbers, "lanczos.filter", 3);
  filter_ = ChebyshevFilter(filter[0], filter[1], int(filter[2]));
  const std::vector<double>& stage = get(numbers, "lanczos.stage", 5);
  stage_ = {int(stage[0]), int(stage[1]), stage[2] != 0, int(stage[3]), stage[4]};
  const std::vector<double>& counts = get(numbers, "lanczos.counts", 9);
  counts_ = {long(counts[0]), long(counts[1]), int(counts[2]), int(counts[3]),
             int(counts[4]),  int(counts[5]),  int(counts[6]), int(counts[7])};
  lowest_of_probe_ = counts[8];
  std::vector<ColorVectorField*> restored;
  for (int i = 0; i < vectors; ++i) restored.push_back(&basis_[i]);
  aim_.keeper->restore(restored);
}

}  // namespace staghorn
