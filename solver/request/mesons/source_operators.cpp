#include "solver/request/mesons/source_operators.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "halo/watch/error.hpp"
#include "solver/request/mesons/meson_list.hpp"
#include "solver/request/words/did_you_mean.hpp"

namespace staghorn {

namespace {

bool begins_with_number(const std::string& text) {
  return text.size() > 1 && (text[1] == '-' || std::isdigit(static_cast<unsigned char>(text[1])) != 0);
}

// Of W:N.
GaussianSmearing parse_smearing(const std::string& text) {
  constexpr int most_steps = 100000;
  GaussianSmearing found{};
  const char* const last = text.data() + text.size();
  const auto width = std::from_chars(text.data(), last, found.width);
  const bool colon = width.ec == std::errc() && width.ptr != last && *width.ptr == ':';
  const auto steps = colon ? std::from_chars(width.ptr + 1, last, found.steps) : width;
  if (!colon || steps.ec != std::errc() || steps.ptr != last || !(found.width > 0 && found.width <= 1e4) ||
      found.steps < 1 || found.steps > most_steps)
    throw Error("operator at the source",
                "gauss, a width above 0, and after : a number of steps up to " + std::to_string(most_steps) +
                    ", as gauss2.5:30",
                "'gauss" + text + "'");
  if (const double least = 3 * found.width * found.width / 8; found.steps < least)
    throw Error("operator at the source",
                "at least " + std::to_string(long(std::ceil(least))) + " steps, 3 W^2 / 8, for the width of 'gauss" +
                    text + "', as high modes grow with fewer",
                found.steps);
  return found;
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
  if (text.starts_with("gauss")) {
    applied.smearing = parse_smearing(text.substr(5));
    return applied;
  }
  for (std::size_t begin = 0, end = 0; end < text.size() || begin == 0; begin = end + 1) {
    end = std::min(text.find('+', begin), text.size());
    const std::string name = text.substr(begin, end - begin);
    const std::optional<SpinTaste> found = find_spin_taste(name);
    if (!found)
      throw Error("operator at the source",
                  std::string("a momentum, as p100, a time slice, as t4, a smearing, as gauss2.5:30, or a sum by + of "
                              "spin-taste operators, each ") +
                      spin_taste_words,
                  "'" + name + "'." + did_you_mean(name, spin_taste_names()));
    applied.spin_tastes.push_back(*found);
  }
  return applied;
}

std::string to_string(const SourceOperator& applied) {
  if (applied.time_slice) return "t" + std::to_string(*applied.time_slice);
  std::string text;
  if (applied.smearing) {
    char width[32];  // the fewest digits that give it back
    const char* const end = std::to_chars(width, width + sizeof width, applied.smearing->width).ptr;
    return "gauss" + std::string(width, std::size_t(end - width)) + ":" + std::to_string(applied.smearing->steps);
  }
  if (applied.momentum) {
    text = "p";
    for (const int component : *applied.momentum) text += std::to_string(component);
  }
  for (const SpinTaste& one : applied.spin_tastes) text += (text.empty() ? "" : "+") + one.name;
  return text;
}

bool have_shifts(const std::vector<SourceOperator>& operators) {
  return std::any_of(operators.begin(), operators.end(), [](const SourceOperator& one) {
    return one.smearing ||
           std::any_of(one.spin_tastes.begin(), one.spin_tastes.end(), [](auto& s) { return s.shifts() != 0; });
  });
}

}  // namespace staghorn
