// The state of a search for eigenpairs: vectors up to the next one, H, and where the search is.
#include "solver/eigen/lanczos_search.hpp"

namespace staghorn {

void LanczosSearch::visit(const Archive& archive) {
  archive("filled", filled_);
  archive("next", next_);
  const int vectors = filled_ + next_;
  if (filled_ < 0 || next_ < 0 || next_ > block_.n_rhs() || vectors > basis_.size())
    throw Error("checkpoint: lanczos: filled", "at most " + std::to_string(basis_.size()), vectors);
  archive("basis", basis_);
  std::vector<double> h;  // its lower triangle
  for (int i = 0; i < vectors; ++i)
    for (int j = 0; j <= i; ++j) h.insert(h.end(), {h_(i, j).re, h_(i, j).im});
  archive("h", h, h.size());
  for (int i = 0, at = 0; i < vectors; ++i)
    for (int j = 0; j <= i; ++j, at += 2) h_(i, j) = {h[std::size_t(at)], h[std::size_t(at) + 1]};
  archive("expected", expected_);
  double from = filter_.from(), to = filter_.to();
  int degree = filter_.degree();
  archive("from", from);
  archive("to", to);
  archive("degree", degree);
  if (archive.reads()) filter_ = ChebyshevFilter(from, to, degree);
  archive("stage", stage_);
  archive("counts", counts_);
  archive("lowest_of_probe", lowest_of_probe_);
}

void LanczosSearch::Stage::visit(const Archive& archive) {
  archive("ordered_before", ordered_before);
  archive("without_growth", without_growth);
  archive("missing", missing);
  archive("probed", probed);
  archive("last", last);
}

void LanczosCounts::visit(const Archive& archive) {
  archive.count("calls", calls);
  archive("filtered", filtered);
  archive("restarts", restarts);
  archive("widened", widened);
  archive("random_vectors", random_vectors);
  archive("probes", probes);
  archive("found_missing", found_missing);
  archive("converged", converged);
}

std::vector<ColorVectorField*> LanczosSearch::vectors_of_state() {
  std::vector<ColorVectorField*> vectors;
  for (int i = 0; i < filled_ + next_; ++i) vectors.push_back(&basis_[i]);
  return vectors;
}

void LanczosSearch::keep_state() {
  aim_.keeper->keep(
      {vectors_of_state(), [this](const Archive& archive) { archive("lanczos", *this); }, "operator calls"});
}

void LanczosSearch::take_state(const Archive& state) {
  state("lanczos", *this);
  aim_.keeper->restore(vectors_of_state());
}

}  // namespace staghorn
