#include "solver/request/mesons/baryon_list.hpp"

#include <algorithm>

#include "halo/named_choice.hpp"

namespace staghorn {

namespace {

constexpr NamedChoice<Baryon, 2> baryon_names{"value", {{{Baryon::nucleon, "nucleon"}, {Baryon::delta, "delta"}}}};

}  // namespace

std::string to_string(Baryon baryon) { return baryon_names.name(baryon); }

std::vector<Baryon> parse_baryons(const std::string& text) {
  std::vector<Baryon> baryons;
  for (std::size_t begin = 0, end = 0; end < text.size() || baryons.empty(); begin = end + 1) {
    end = std::min(text.find(',', begin), text.size());
    baryons.push_back(baryon_names.parse(text.substr(begin, end - begin)));
  }
  return baryons;
}

}  // namespace staghorn
