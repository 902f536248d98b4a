#include "solver/report/solve_report.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "halo/named_choice.hpp"
#include "lattice_io/files/header_text.hpp"
#include "solver/search/archive.hpp"

namespace staghorn {

namespace {

constexpr NamedChoice<Outcome, 4> outcomes{"outcome",
                                           {{{Outcome::certified, "certified"},
                                             {Outcome::out_of_iterations, "out_of_iterations"},
                                             {Outcome::stagnated, "stagnated"},
                                             {Outcome::breakdown, "breakdown"}}}};

}  // namespace

std::string to_string(Outcome outcome) { return outcomes.name(outcome); }
void parse(const std::string& text, Outcome& outcome) { outcome = outcomes.parse(text); }

void RhsReport::visit(const Archive& archive) {
  archive("source", source);
  archive("color", color);
  archive("mass", mass);
  archive("naik_epsilon", naik_epsilon);
  archive("outcome", outcome);
  archive("iterations", iterations);
  archive("iterations_more", iterations_more);
  archive("shift_iterations", shift_iterations);
  archive("residual_iterated", residual_iterated);
  archive("residual_true", residual_true);
  archive("residual_parity", residual_parity);
  archive("residual_hq", residual_hq);
  archive("attainable", attainable);
  archive("growth2", growth2);
  archive("norm2", norm2);
  archive("norm2_even", norm2_even);
  archive("norm2_odd", norm2_odd);
  archive("digits_lost", digits_lost);
  archive("earlier_solutions", earlier_solutions);
  archive("updates", updates);
  archive("mismatches", mismatches);
  archive("history", history);
}

void MultiShiftSummary::Group::visit(const Archive& archive) {
  archive("naik_epsilon", naik_epsilon);
  archive("masses", masses);
  archive("iterations", iterations);
  archive("sloppy_iterations", sloppy_iterations);
  archive("columns", columns);
  archive("precision", precision);
}

double attainable_residual(const SolveRequest& request, const SpectrumEstimate& spectrum, const RhsReport& rhs) {
  if (!spectrum.known() || rhs.growth2 < 0) return 0;
  const double four_m2 = 4 * request.mass * request.mass, largest = spectrum.largest;
  const double norm =
      request.system == System::full ? 2 * request.mass + std::sqrt(std::max(largest - four_m2, 0.0)) : largest;
  return std::numeric_limits<double>::epsilon() * (norm * std::sqrt(rhs.growth2) + 1);
}

std::size_t SolveReport::count_kinds() const {
  return std::size_t(std::count_if(observables.begin(), observables.end(), [](const Observable& observable) {
    return observable.mass == 0 && observable.source == 0;
  }));
}

std::string equation(System system) {
  return system == System::full ? "M x = b, M = 2m + D" : "A x = b, A = 4m^2 - D^2 on " + to_string(system) + " sites";
}

std::string hop_definition_of(const RunSetting& setting) {
  return setting.improved ? improved_hop_definition : hop_definition;
}

std::map<std::string, std::string> solution_attributes(const SolveReport& report) {
  std::string masses = report.multi_shift ? "" : shortest_digits(report.request.mass);
  for (const double mass : report.request.masses)
    masses.append(masses.empty() ? "" : " ").append(shortest_digits(mass));
  std::string residuals, iterations;  // "r0 r1 ...", one for each right-hand side
  for (const RhsReport& rhs : report.rhs) {
    residuals.append(residuals.empty() ? "" : " ").append(shortest_digits(rhs.residual_true));
    iterations.append(iterations.empty() ? "" : " ").append(std::to_string(rhs.iterations));
  }
  std::map<std::string, std::string> attributes{
      {"staghorn_version", report.provenance.count("version") ? report.provenance.at("version") : ""},
      {"gauge_file", report.gauge.file},
      {"gauge_format", report.gauge.format},
      {"gauge_plaquette", shortest_digits(report.gauge.plaquette)},
      {"gauge_reunitarized", report.gauge.reunitarized ? "yes" : "no"},
      {"inputs_verified", report.verified() ? "yes" : "no"},
      {"equation", equation(report.request.system)},
      {"operator", hop_definition_of(report)},
      {"phases", to_string(report.request.phases)},
      {"boundary", to_string(report.options.boundary)},
      {report.multi_shift ? "masses" : "mass", masses},
      {"source", report.source},
      {"precision", to_string(report.options.precision)},
      {"links", to_string(report.options.links)},
      {"tolerance", shortest_digits(report.tolerance)},
      {"outcome", to_string(report.outcome)},
      {"residual_true", residuals},
      {"iterations", iterations}};
  if (report.multi_shift && !report.multi_shift->groups.empty()) {
    std::string epsilons;
    const std::size_t n = report.rhs.size() / report.request.masses.size();
    for (std::size_t i = 0; i < report.rhs.size(); i += n)
      epsilons.append(epsilons.empty() ? "" : " ").append(shortest_digits(report.rhs[i].naik_epsilon.value_or(0)));
    attributes["naik_epsilons"] = epsilons;
  }
  if (report.rational) {
    attributes["rational"] = to_string(*report.request.rational);
    attributes["solution"] = report.request.rational_parts ? "a solution for each pole" : "constant b + sum over poles";
  }
  if (report.improved) {
    attributes["action"] = report.improved->action;
    attributes["naik_scale"] = shortest_digits(report.improved->naik_scale);
    if (report.improved->u0) attributes["u0"] = shortest_digits(*report.improved->u0);
    if (report.improved->naik_epsilon) attributes["naik_epsilon"] = shortest_digits(*report.improved->naik_epsilon);
    if (!report.improved->unitarize.empty()) attributes["unitarize"] = report.improved->unitarize;
    attributes["naik_links"] = to_string(report.options.naik_links);
  }
  for (const auto& [name, checksum] : report.gauge.checksums) attributes["gauge_" + name] = checksum.computed;
  return attributes;
}

std::vector<Target> targets_of(const SolveRequest& request, double tolerance, const RhsReport& rhs) {
  const auto [first, second] = request.named(tolerance);
  std::vector<Target> targets = {
      {first.name, *first.value, rhs.residual_true, 2 * std::max(rhs.residual_true, rhs.attainable)}};
  if (second.value) targets.push_back({second.name, *second.value, rhs.residual_hq, 4 * rhs.residual_hq});
  return targets;
}

}  // namespace staghorn
