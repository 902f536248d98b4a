#include "solver/request/mesons/source_operators.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "halo/watch/error.hpp"
#include "solver/request/mesons/meson_list.hpp"
#include "solver/request/words/did_you_mean.hpp"

namespace staghorn {

namespace {

bool begins_with_number(const std::string& text) {
  return text.size() > 1 && (text[1] == '-' || std::isdigit(static_cast<unsigned char>(text[1])) != 0);
}

}  // namespace

SourceOperator parse_source_operator(const std::string& text) {
  SourceOperator applied;
  if (text.starts_with("p") && begins_with_number(text)) {
    applied.momentum = parse_momentum(text);
    return applied;
  }
  if (text.starts_with("t") && begins_with_number(text)) {
    int t = 0;
    const auto [end, code] = std::from_chars(text.data() + 1, text.data() + text.size(), t);
    if (code != std::errc() || end != text.data() + text.size())
      throw Error("operator at the source", "a time slice t and its number, as t4", "'" + text + "'");
    applied.time_slice = t;
    return applied;
  }
  for (std::size_t begin = 0, end = 0; end < text.size() || begin == 0; begin = end + 1) {
    end = std::min(text.find('+', begin), text.size());
    const std::string name = text.substr(begin, end - begin);
    const std::optional<SpinTaste> found = find_spin_taste(name);
    if (!found)
      throw Error(
          "operator at the source",
          std::string("a momentum, as p100, a time slice, as t4, or a sum by + of spin-taste operators, each ") +
              spin_taste_words,
          "'" + name + "'." + did_you_mean(name, spin_taste_names()));
    applied.spin_tastes.push_back(*found);
  }
  return applied;
}

std::string to_string(const SourceOperator& applied) {
  if (applied.time_slice) return "t" + std::to_string(*applied.time_slice);
  std::string text;
  if (applied.momentum) {
    text = "p";
    for (const int component : *applied.momentum) text += std::to_string(component);
  }
  for (const SpinTaste& one : applied.spin_tastes) text += (text.empty() ? "" : "+") + one.name;
  return text;
}

bool have_shifts(const std::vector<SourceOperator>& operators) {
  return std::any_of(operators.begin(), operators.end(), [](const SourceOperator& one) {
    return std::any_of(one.spin_tastes.begin(), one.spin_tastes.end(), [](auto& s) { return s.shifts() != 0; });
  });
}

}  // namespace staghorn
