#include "solver/search/search_keeper.hpp"

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

}  // namespace staghorn
