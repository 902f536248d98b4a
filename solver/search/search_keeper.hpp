// Searches that can be left and taken up again with no bit changed: what a solver hands over, and who keeps it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dirac/fields/color_vector_field.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

// Lists of numbers by name. Whole numbers below 2^53 and enums are kept as doubles.
using SearchNumbers = std::map<std::string, std::vector<double>>;

// All that a solver needs to go on from where it is. The order of the vectors is the solver's own.
struct SearchState {
  std::vector<ColorVectorField*> vectors;  // of n_rhs right-hand sides each
  SearchNumbers numbers;
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
  // The numbers of the state to go on from; nullptr for none. A solver asks when it begins. The numbers stay until the
  // next state is kept. Collective.
  virtual const SearchNumbers* kept_numbers() = 0;
  // Fills the vectors with those of that state, in the order in which they were kept. Throws Error where their number
  // is another. Collective.
  virtual void restore(const std::vector<ColorVectorField*>& vectors) = 0;
};

// The keeper of a search within another one: vectors and numbers of the outer search are kept beside those of the inner
// one, and filled again with them. The inner search therefore restores its state before it reads anything else.
class NestedKeeper final : public SearchKeeper {
 public:
  // `put` adds the numbers of the outer search. `keeper` and what `vectors` points to must outlive the object. Local.
  NestedKeeper(SearchKeeper& keeper, std::vector<ColorVectorField*> vectors, std::function<void(SearchNumbers&)> put)
      : keeper_(keeper), vectors_(std::move(vectors)), put_(std::move(put)) {}
  bool is_due() override { return keeper_.is_due(); }
  void keep(const SearchState& state) override;
  const SearchNumbers* kept_numbers() override { return keeper_.kept_numbers(); }
  void restore(const std::vector<ColorVectorField*>& vectors) override { keeper_.restore(and_those(vectors)); }

 private:
  std::vector<ColorVectorField*> and_those(const std::vector<ColorVectorField*>& inner) const;

  SearchKeeper& keeper_;
  std::vector<ColorVectorField*> vectors_;
  std::function<void(SearchNumbers&)> put_;
};

// The list of this name. Throws Error where it is absent or has another length. Local.
const std::vector<double>& get(const SearchNumbers& numbers, const std::string& name, std::size_t length);
const std::vector<double>& get(const SearchNumbers& numbers, const std::string& name);  // of any length
double get_number(const SearchNumbers& numbers, const std::string& name);
// A text as the codes of its characters. Local.
void put_text(SearchNumbers& numbers, const std::string& name, const std::string& text);
std::string get_text(const SearchNumbers& numbers, const std::string& name);
// Lists whose names get `prefix` in front, and those that have it, without it. Local.
void put_below(SearchNumbers& numbers, const std::string& prefix, SearchNumbers below);
SearchNumbers below(const SearchNumbers& numbers, const std::string& prefix);

}  // namespace staghorn
