#include "solver/request/mesons/spin_taste_names.hpp"

#include <array>

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

}  // namespace

std::vector<SpinTaste> local_spin_tastes() { return every_product(true); }

std::vector<SpinTaste> all_spin_tastes() { return every_product(false); }

std::optional<SpinTaste> find_spin_taste(const std::string& name) {
  for (const OldName& old : old_names)
    if (name == old.name) return SpinTaste{name, old.sign, old.spin, old.taste};
  for (SpinTaste& one : every_product(false))
    if (name == one.name) return std::move(one);
  return std::nullopt;
}

std::vector<std::string> spin_taste_names() {
  std::vector<std::string> names;
  for (const OldName& old : old_names) names.emplace_back(old.name);
  for (SpinTaste& one : every_product(false)) names.push_back(std::move(one.name));
  return names;
}

}  // namespace staghorn
