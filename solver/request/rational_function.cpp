#include "solver/request/rational_function.hpp"

#include <cmath>
#include <sstream>

#include "halo/watch/error.hpp"
#include "lattice_io/files/text_file.hpp"
#include "solver/request/option_text.hpp"

namespace staghorn {

namespace {

struct Found {
  std::string name;
  int order = 0;
  std::vector<double> residues, poles;
  std::optional<double> naik_epsilon;
};

// All functions of a file, in their order.
std::vector<Found> all_functions(const std::string& path, const std::string& text) {
  std::vector<Found> functions;
  std::istringstream lines(text);
  std::optional<double> naik_epsilon;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    std::string key, value;
    if (!(words >> key)) continue;
    const std::size_t underscore = key.find('_');
    const std::string kind = key.substr(0, underscore);
    const bool names_epsilon = key == "naik_term_epsilon";
    if (underscore == std::string::npos || (!names_epsilon && kind != "order" && kind != "res" && kind != "pole"))
      continue;
    const std::string name = key.substr(underscore + 1), where = path + ", line " + std::to_string(number);
    if (!(words >> value)) throw FileError(where, "a number after " + key, "none");
    try {
      if (names_epsilon) {
        naik_epsilon = parse_number<double>(value);
        continue;
      }
      if (kind == "order") {
        functions.push_back({name, parse_number<int>(value), {}, {}, naik_epsilon});
        continue;
      }
      if (functions.empty() || functions.back().name != name)
        throw Error("value", "order_" + name + " before " + key, "none");
      (kind == "res" ? functions.back().residues : functions.back().poles).push_back(parse_number<double>(value));
    } catch (const Error& error) {
      throw FileError(about_option(where, error.what()));
    }
  }
  return functions;
}

}  // namespace

RationalSpec parse_rational(const std::string& text) {
  RationalSpec spec;
  std::istringstream parts(text);
  std::string number;
  std::getline(parts, spec.path, ':');
  std::getline(parts, spec.name, ':');
  if (std::getline(parts, number)) spec.number = parse_number<int>(number);
  if (spec.path.empty() || spec.number < 1) throw Error("value", "FILE, FILE:NAME or FILE:NAME:N", "'" + text + "'");
  return spec;
}

std::string to_string(const RationalSpec& spec) {
  return spec.path + (spec.name.empty() ? "" : ":" + spec.name) +
         (spec.number == 1 ? "" : ":" + std::to_string(spec.number));
}

std::vector<double> RationalFunction::masses() const {
  std::vector<double> masses;
  for (const double pole : poles) masses.push_back(std::sqrt(pole) / 2);
  return masses;
}

RationalFunction read_rational(const Communicator& communicator, const RationalSpec& spec) {
  const std::vector<Found> functions = all_functions(spec.path, read_text_file(communicator, spec.path));
  int number = 0;
  std::string names;
  for (const Found& found : functions) {
    names += (names.empty() ? "" : ", ") + found.name;
    if (!spec.name.empty() && found.name != spec.name) continue;
    if (++number < spec.number) continue;
    const std::size_t lines = std::size_t(found.order) + 1;
    for (const auto& [what, values] : {std::pair{"res_", &found.residues}, std::pair{"pole_", &found.poles}})
      if (found.order < 1 || values->size() != lines)
        throw FileError(spec.path, "order_" + found.name + " n of at least 1 and n + 1 lines " + what + found.name,
                        "order " + std::to_string(found.order) + " and " + std::to_string(values->size()) + " lines");
    RationalFunction function{found.name, found.residues[0], {}, {}, found.naik_epsilon};
    function.residues.assign(found.residues.begin() + 1, found.residues.end());
    function.poles.assign(found.poles.begin() + 1, found.poles.end());
    for (const double pole : function.poles)
      if (!(pole > 0 && std::isfinite(pole))) throw FileError(spec.path, "poles above 0", pole);
    for (const double residue : found.residues)
      if (!std::isfinite(residue)) throw FileError(spec.path, "finite residues", residue);
    if (!std::isfinite(function.naik_epsilon.value_or(0)))
      throw FileError(spec.path, "a finite naik_term_epsilon", *function.naik_epsilon);
    return function;
  }
  throw FileError(
      spec.path,
      "rational function " + (spec.name.empty() ? "" : spec.name + " ") + "number " + std::to_string(spec.number),
      names.empty() ? "no function (no line order_NAME)" : "functions " + names);
}

}  // namespace staghorn
