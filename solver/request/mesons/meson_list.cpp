#include "solver/request/mesons/meson_list.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>
#include <utility>

#include "halo/watch/error.hpp"
#include "solver/request/words/did_you_mean.hpp"

namespace staghorn {

namespace {

constexpr std::array<const char*, 3> letters{"E", "O", "EO"};  // in the order of MomentumPhase

// Every way to read `text` as n of the letters.
std::vector<std::vector<MomentumPhase>> readings(const std::string& text, std::size_t n) {
  if (n == 0)
    return text.empty() ? std::vector<std::vector<MomentumPhase>>{{}} : std::vector<std::vector<MomentumPhase>>{};
  std::vector<std::vector<MomentumPhase>> found;
  for (std::size_t k = 0; k < letters.size(); ++k) {
    const std::string first = letters[k];
    if (!text.starts_with(first)) continue;
    std::size_t rest = first.size();
    if (rest < text.size() && text[rest] == '.') ++rest;
    const bool ends_with_point = rest == text.size() && rest > first.size();
    if (ends_with_point) continue;
    for (std::vector<MomentumPhase>& others : readings(text.substr(rest), n - 1)) {
      others.insert(others.begin(), MomentumPhase(k));
      found.push_back(std::move(others));
    }
  }
  return found;
}

std::array<MomentumPhase, 3> parse_symmetry(const std::string& text) {
  if (const auto once = readings(text, 1); once.size() == 1) return {once[0][0], once[0][0], once[0][0]};
  const auto found = readings(text, 3);
  if (found.size() != 1)
    throw Error(
        "value",
        "E, O or EO for each direction, with points between them where they can be read in several ways, as EO.E.O",
        "'" + text + "'");
  return {found[0][0], found[0][1], found[0][2]};
}

// Vector currents with links: rhoxsfn and the like are those of MILC.
std::optional<LinkCurrent> find_current(const std::string& name) {
  constexpr std::string_view directions = "xyzt";
  for (int mu = 0; mu < 4; ++mu) {
    const std::string direction(1, directions[std::size_t(mu)]);
    if (name == "conserved-" + direction) return LinkCurrent{mu, CurrentLinks::conserved, CurrentPart::both};
    for (const auto& [letters, part] :
         {std::pair{"", CurrentPart::both}, {"f", CurrentPart::forward}, {"b", CurrentPart::backward}}) {
      const std::string milc = "rho" + direction + "s" + letters;
      if (name == milc + "fn") return LinkCurrent{mu, CurrentLinks::fat, part};
      if (name == milc + "ape") return LinkCurrent{mu, CurrentLinks::thin, part};
    }
  }
  return std::nullopt;
}

// Operators at the sink, at rest.
std::vector<MesonRequest> parse_name(const std::string& name) {
  std::vector<MesonRequest> found;
  if (name == "all" || name == "all-local") {
    for (SpinTaste& one : name == "all" ? all_spin_tastes() : local_spin_tastes()) found.push_back({std::move(one)});
    return found;
  }
  if (auto one = find_spin_taste(name)) return {{std::move(*one)}};
  if (const auto current = find_current(name)) return {{SpinTaste{name}, {}, current}};
  std::vector<std::string> names = spin_taste_names();
  for (const char* other : {"all", "all-local", "conserved-x", "rhoxsfn", "rhoxsape"}) names.emplace_back(other);
  throw Error("value",
              std::string("all, all-local, ") + spin_taste_words +
                  ", or a current with links, as conserved-x, rhoxsfn or rhoxsape",
              "'" + name + "'." + did_you_mean(name, names));
}

}  // namespace

std::array<int, 3> parse_momentum(const std::string& text) {
  std::array<int, 3> p{};
  std::size_t at = 1;
  for (int& component : p) {
    const bool negative = at < text.size() && text[at] == '-';
    at += std::size_t(negative);
    if (at >= text.size() || std::isdigit(static_cast<unsigned char>(text[at])) == 0) at = text.size() + 1;
    if (at < text.size()) component = (negative ? -1 : 1) * (text[at++] - '0');
  }
  if (text.empty() || text[0] != 'p' || at != text.size())
    throw Error("value", "a momentum p and three digits, as p100 or p-110", "'" + text + "'");
  return p;
}

std::string symmetry_of(const SinkMomentum& momentum) {
  std::string text;
  for (const MomentumPhase phase : momentum.phase)
    text += (text.empty() ? "" : " ") + std::string(letters[std::size_t(phase)]);
  return text;
}

std::string to_string(const MesonRequest& meson) {
  std::string text = meson.sink.name + ":p", symmetry = symmetry_of(meson.momentum);
  for (const int component : meson.momentum.p) text += std::to_string(component);
  std::replace(symmetry.begin(), symmetry.end(), ' ', '.');
  return text + ":" + symmetry;
}

std::vector<SourcePair> parse_pairs(const std::string& text) {
  std::vector<SourcePair> pairs;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&](int& n) {
    const auto [after, code] = std::from_chars(at, end, n);
    at = after;
    return code == std::errc() && n >= 0;
  };
  do {
    SourcePair pair;
    bool is_pair = number(pair.antiquark) && at != end && *at++ == ':' && number(pair.quark);
    is_pair = is_pair && (at == end || (*at == ',' && at + 1 != end));
    if (!is_pair)
      throw Error("value", "numbers of sources from 0, antiquark:quark, between commas, as 0:0,0:1", "'" + text + "'");
    pairs.push_back(pair);
  } while (at != end && at++ != end);
  return pairs;
}

std::vector<MesonRequest> parse_mesons(const std::string& text) {
  std::vector<MesonRequest> mesons;
  for (std::size_t begin = 0, end = 0; end < text.size() || mesons.empty(); begin = end + 1) {
    end = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const std::size_t colon = word.find(':');
    SinkMomentum momentum;
    if (colon != std::string::npos) {
      const std::string rest = word.substr(colon + 1);
      const std::size_t second = rest.find(':');
      momentum.p = parse_momentum(rest.substr(0, second));
      if (second != std::string::npos) momentum.phase = parse_symmetry(rest.substr(second + 1));
    }
    for (MesonRequest& meson : parse_name(word.substr(0, colon))) {
      meson.momentum = momentum;
      mesons.push_back(std::move(meson));
    }
  }
  return mesons;
}

}  // namespace staghorn
