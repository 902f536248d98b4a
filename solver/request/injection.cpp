#include "solver/request/injection.hpp"

#include "halo/named_choice.hpp"
#include "solver/request/option_text.hpp"

namespace staghorn {

namespace {

constexpr NamedChoice<Injection::What, 4> names{
    "inject",
    {{{Injection::link, "link"}, {Injection::vector, "vector"}, {Injection::halo, "halo"}, {Injection::sum, "sum"}}}};

Injection parse_one(const std::string& text) {
  const std::size_t first = text.find(':'), second = text.find(':', first == std::string::npos ? first : first + 1);
  if (first == std::string::npos)
    throw Error("inject", "link, vector, halo or sum with an iteration, as vector:40", "'" + text + "'");
  Injection injection;
  injection.what = names.parse(text.substr(0, first));
  injection.iteration =
      parse_number<long>(text.substr(first + 1, second == std::string::npos ? second : second - first - 1));
  if (second != std::string::npos) injection.seed = parse_number<std::uint64_t>(text.substr(second + 1));
  return injection;
}

}  // namespace

std::vector<Injection> parse_injections(const std::string& text) {
  std::vector<Injection> injections;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    injections.push_back(parse_one(text.substr(begin, comma - begin)));
    begin = comma + 1;
  }
  return injections;
}

std::string to_string(const Injection& injection) {
  return names.name(injection.what) + std::string(":") + std::to_string(injection.iteration) + ":" +
         std::to_string(injection.seed);
}

}  // namespace staghorn
