// Searches that can be left and taken up again with no bit changed: what a solver hands over, and who keeps it.
#pragma once

#include <utility>
#include <vector>

#include "dirac/fields/color_vector_field.hpp"
#include "solver/search/archive.hpp"

namespace staghorn {

// One right-hand side of a field.
struct ColumnVector {
  ColorVectorField* field = nullptr;
  int rhs = 0;
};

// All that a solver needs to go on from where it is. The order of the vectors is the solver's own.
struct SearchState {
  std::vector<ColorVectorField*> vectors;  // of n_rhs right-hand sides each
  VisitState visit;                        // writes all the rest
  const char* counted = "iterations";      // what the archive counts
};

// A signal asked the solve to end, and its state is in a file.
class EndedWithCheckpoint : public Error {
 public:
  using Error::Error;
};

class SearchKeeper {
 public:
  virtual ~SearchKeeper() = default;
  // Whether the state is wanted now. Solvers ask where they can be left; it costs a message among ranks. Collective.
  virtual bool is_due() = 0;
  // Keeps the state. Throws EndedWithCheckpoint, on all ranks, where the search is not to go on. Collective.
  virtual void keep(const SearchState& state) = 0;
  // The state to go on from; nullptr for none. A solver asks when it begins. It stays until the next state is kept.
  // Collective.
  virtual const Archive* kept() = 0;
  // Fills the vectors with those of that state, in the order in which they were kept. Throws Error where their number
  // is another. Collective.
  virtual void restore(const std::vector<ColorVectorField*>& vectors) = 0;
};

// The keeper of a search within another one: vectors and values of the outer search are kept beside those of the inner
// one, and filled again with them. The inner search therefore restores its vectors before it reads anything else.
class NestedKeeper final : public SearchKeeper {
 public:
  // `visit` writes the outer search. `keeper` and what `vectors` points to must outlive the object. Local.
  NestedKeeper(SearchKeeper& keeper, std::vector<ColorVectorField*> vectors, VisitState visit)
      : keeper_(keeper), vectors_(std::move(vectors)), visit_(std::move(visit)) {}
  bool is_due() override { return keeper_.is_due(); }
  void keep(const SearchState& state) override {
    const auto visit_both = [&](const Archive& archive) { state.visit(archive), visit_(archive); };
    keeper_.keep({and_those(state.vectors), visit_both, state.counted});
  }
  const Archive* kept() override { return keeper_.kept(); }
  void restore(const std::vector<ColorVectorField*>& vectors) override { keeper_.restore(and_those(vectors)); }

 private:
  std::vector<ColorVectorField*> and_those(const std::vector<ColorVectorField*>& inner) const {
    std::vector<ColorVectorField*> all = vectors_;
    all.insert(all.end(), inner.begin(), inner.end());
    return all;
  }

  SearchKeeper& keeper_;
  std::vector<ColorVectorField*> vectors_;
  VisitState visit_;
};

}  // namespace staghorn
