#include "solver/krylov/search_keeper.hpp"

namespace staghorn {

std::vector<ColorVectorField*> NestedKeeper::and_those(const std::vector<ColorVectorField*>& inner) const {
  std::vector<ColorVectorField*> all = vectors_;
  all.insert(all.end(), inner.begin(), inner.end());
  return all;
}

void NestedKeeper::keep(const SearchState& state) {
  SearchState whole{and_those(state.vectors), state.numbers};
  put_(whole.numbers);
  keeper_.keep(whole);
}

const std::vector<double>& get(const SearchNumbers& numbers, const std::string& name) {
  const auto found = numbers.find(name);
  if (found == numbers.end()) throw Error("checkpoint", "numbers named " + name, "none");
  return found->second;
}

const std::vector<double>& get(const SearchNumbers& numbers, const std::string& name, std::size_t length) {
  const std::vector<double>& list = get(numbers, name);
  if (list.size() != length) throw Error("checkpoint: " + name, std::to_string(length) + " numbers", list.size());
  return list;
}

double get_number(const SearchNumbers& numbers, const std::string& name) { return get(numbers, name, 1)[0]; }

void put_text(SearchNumbers& numbers, const std::string& name, const std::string& text) {
  numbers[name].assign(text.begin(), text.end());
}

std::string get_text(const SearchNumbers& numbers, const std::string& name) {
  std::string text;
  for (const double code : get(numbers, name)) text += char(code);
  return text;
}

void put_below(SearchNumbers& numbers, const std::string& prefix, SearchNumbers below) {
  for (auto& [name, list] : below) numbers[prefix + name] = std::move(list);
}

SearchNumbers below(const SearchNumbers& numbers, const std::string& prefix) {
  SearchNumbers found;
  for (auto at = numbers.lower_bound(prefix); at != numbers.end() && at->first.starts_with(prefix); ++at)
    found[at->first.substr(prefix.size())] = at->second;
  return found;
}

void put(SearchNumbers& numbers, const std::string& prefix, const std::vector<SolvedRhs>& rhs) {
  for (const char* name : {"outcome", "iterations", "residual"}) numbers[prefix + name].clear();
  for (std::size_t i = 0; i < rhs.size(); ++i) {
    const std::string number = std::to_string(i);
    numbers[prefix + "outcome"].push_back(double(rhs[i].outcome));
    numbers[prefix + "iterations"].push_back(double(rhs[i].iterations));
    numbers[prefix + "residual"].push_back(rhs[i].residual_norm);
    numbers[prefix + "history" + number] = rhs[i].history;
    numbers[prefix + "steps" + number] = rhs[i].steps;
    numbers[prefix + "updates" + number].assign(rhs[i].updates.begin(), rhs[i].updates.end());
  }
}

std::vector<SolvedRhs> get_rhs(const SearchNumbers& numbers, const std::string& prefix, std::size_t n_rhs) {
  std::vector<SolvedRhs> rhs(n_rhs);
  const std::vector<double>&outcome = get(numbers, prefix + "outcome", n_rhs),
        &iterations = get(numbers, prefix + "iterations", n_rhs), &residual = get(numbers, prefix + "residual", n_rhs);
  for (std::size_t i = 0; i < n_rhs; ++i) {
    rhs[i].outcome = CgOutcome(int(outcome[i]));
    rhs[i].iterations = long(iterations[i]);
    rhs[i].residual_norm = residual[i];
    rhs[i].history = get(numbers, prefix + "history" + std::to_string(i));
    rhs[i].steps = get(numbers, prefix + "steps" + std::to_string(i));
    for (const double update : get(numbers, prefix + "updates" + std::to_string(i)))
      rhs[i].updates.push_back(long(update));
  }
  return rhs;
}

}  // namespace staghorn
