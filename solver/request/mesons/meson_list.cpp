#include "solver/request/mesons/meson_list.hpp"

#include <algorithm>
#include <cctype>

#include "halo/watch/error.hpp"
#include "solver/request/words/did_you_mean.hpp"

namespace staghorn {

namespace {

constexpr int X = 1, Y = 2, Z = 4, T = 8, G5 = 15;

struct Gamma {
  const char* name;
  int set;
};
constexpr std::array<Gamma, 16> gammas{{{"G5", G5},
                                        {"GX", X},
                                        {"GY", Y},
                                        {"GZ", Z},
                                        {"GT", T},
                                        {"G5X", G5 ^ X},
                                        {"G5Y", G5 ^ Y},
                                        {"G5Z", G5 ^ Z},
                                        {"G5T", G5 ^ T},
                                        {"GXY", X | Y},
                                        {"GZX", Z | X},
                                        {"GYZ", Y | Z},
                                        {"GXT", X | T},
                                        {"GYT", Y | T},
                                        {"GZT", Z | T},
                                        {"G1", 0}}};

struct OldName {
  const char* name;
  int sign, spin, taste;
};
// Three of MILC's older names carry a sign, and rhoi stands for rhoz.
constexpr std::array<OldName, 21> old_names{
    {{"pion5", 1, G5, G5},       {"pion05", 1, 0, 0},        {"pioni5", -1, G5, G5 ^ Z}, {"pionij", 1, 0, Z},
     {"pioni", 1, 0, X | Y},     {"pioni0", 1, T, G5 ^ Z},   {"pions", 1, 0, G5 ^ T},    {"pion0", -1, T, G5},
     {"rhox", 1, X, X},          {"rhoy", 1, Y, Y},          {"rhoz", 1, Z, Z},          {"rhoi", 1, Z, Z},
     {"rhox0", 1, X | T, X | T}, {"rhoy0", 1, Y | T, Y | T}, {"rhoz0", 1, Z | T, Z | T}, {"rhoi0", 1, Z | T, Z | T},
     {"rhoxs", 1, X, 0},         {"rhoys", 1, Y, 0},         {"rhozs", 1, Z, 0},         {"rhois", 1, Z, 0},
     {"rho0", -1, Z | T, T}}};

SpinTaste product_of(const Gamma& spin, const Gamma& taste) {
  return {std::string(spin.name) + "-" + taste.name, 1, spin.set, taste.set};
}

std::vector<SpinTaste> every_product(bool local) {
  std::vector<SpinTaste> found;
  for (const Gamma& spin : gammas)
    for (const Gamma& taste : gammas)
      if (!local || spin.set == taste.set) found.push_back(product_of(spin, taste));
  return found;
}

std::vector<SpinTaste> parse_name(const std::string& name) {
  if (name == "all" || name == "all-local") return every_product(name != "all");
  std::vector<std::string> names{"all", "all-local"};
  for (const OldName& old : old_names) {
    if (name == old.name) return {{name, old.sign, old.spin, old.taste}};
    names.emplace_back(old.name);
  }
  for (const SpinTaste& one : every_product(false)) {
    if (name == one.name) return {one};
    names.push_back(one.name);
  }
  throw Error("value",
              "all, all-local, a name of MILC's, as pion5 or rhox0, or GA-GB of two of 1, X, Y, Z, T, 5, XY, ZX, YZ, "
              "XT, YT, ZT, 5X, 5Y, 5Z, 5T, as G5-G5X",
              "'" + name + "'." + did_you_mean(name, names));
}

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

}  // namespace

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
    for (SpinTaste& sink : parse_name(word.substr(0, colon))) mesons.push_back({std::move(sink), momentum});
  }
  return mesons;
}

}  // namespace staghorn
