#include "solver/report/solve_report.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "halo/watch/error.hpp"
#include "solver/report/time_table.hpp"
#include "solver/report/tuning_report.hpp"

namespace staghorn {

using Json = nlohmann::ordered_json;  // keeps the order in which a reader wants the keys

namespace {

std::string shortest(double value) {  // as few digits as give the same double back
  char text[32];
  for (int digits = 6; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (std::stod(text) == value) break;
  }
  return text;
}

Json checksums_json(const std::map<std::string, ChecksumResult>& checksums) {
  Json json = Json::object();
  for (const auto& [name, c] : checksums)
    json[name] = {{"stored", c.stored}, {"computed", c.computed}, {"match", c.match}};
  return json;
}

Json gauge_json(const GaugeSummary& gauge) {
  return {{"file", gauge.file},
          {"format", gauge.format},
          {"plaquette", gauge.plaquette},
          {"plaquette_space", gauge.plaquette_space},
          {"plaquette_time", gauge.plaquette_time},
          {"link_trace", {gauge.link_trace.real(), gauge.link_trace.imag()}},
          {"max_unitarity_deviation", gauge.max_unitarity_deviation},
          {"reunitarized", gauge.reunitarized},
          {"checksums", checksums_json(gauge.checksums)},
          {"warnings", gauge.warnings}};
}

Json rhs_json(const RhsReport& rhs) {
  return {{"color", rhs.color < 0 ? Json(nullptr) : Json(rhs.color)},
          {"outcome", to_string(rhs.outcome)},
          {"iterations", rhs.iterations},
          {"residual_iterated", rhs.residual_iterated},
          {"residual_true", rhs.residual_true},
          {"norm2", rhs.norm2},
          {"norm2_even", rhs.norm2_even},
          {"norm2_odd", rhs.norm2_odd},
          {"updates", rhs.updates},
          {"history", rhs.history}};
}

Json transports_json(const TransportChoice& choice) {
  Json json = {{"chosen", choice.name},
               {"reason", choice.reason},
               {"face_bytes", choice.face_bytes},
               {"test_seconds", choice.seconds},
               {"tried", Json::array()}};
  for (const TransportTrial& trial : choice.tried)
    json["tried"].push_back({{"name", trial.name},
                             {"seconds", trial.left_out.empty() ? Json(trial.seconds) : Json(nullptr)},
                             {"failed", trial.failed},
                             {"left_out", trial.left_out.empty() ? Json(nullptr) : Json(trial.left_out)}});
  return json;
}

std::string equation(System system) {
  return system == System::full ? "M x = b, M = 2m + D" : "A x = b, A = 4m^2 - D^2 on " + to_string(system) + " sites";
}

constexpr const char* hop_definition = "D a(x) = sum_mu eta_mu(x) [U_mu(x) a(x+mu) - U_mu(x-mu)^dagger a(x-mu)]";

}  // namespace

std::string to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::certified:
      return "certified";
    case Outcome::out_of_iterations:
      return "out_of_iterations";
    case Outcome::stagnated:
      return "stagnated";
    case Outcome::breakdown:
      return "breakdown";
  }
  throw Error("unknown outcome");
}

std::map<std::string, std::string> solution_attributes(const SolveReport& report) {
  std::string residuals, iterations;  // "r0 r1 ...", one for each right-hand side
  for (const RhsReport& rhs : report.rhs) {
    residuals.append(residuals.empty() ? "" : " ").append(shortest(rhs.residual_true));
    iterations.append(iterations.empty() ? "" : " ").append(std::to_string(rhs.iterations));
  }
  std::map<std::string, std::string> attributes{
      {"staghorn_version", report.provenance.count("version") ? report.provenance.at("version") : ""},
      {"gauge_file", report.gauge.file},
      {"gauge_format", report.gauge.format},
      {"gauge_plaquette", shortest(report.gauge.plaquette)},
      {"gauge_reunitarized", report.gauge.reunitarized ? "yes" : "no"},
      {"equation", equation(report.request.system)},
      {"operator", hop_definition},
      {"phases", to_string(report.request.phases)},
      {"boundary", to_string(report.options.boundary)},
      {"mass", shortest(report.request.mass)},
      {"source", report.source},
      {"precision", to_string(report.options.precision)},
      {"links", to_string(report.options.links)},
      {"tolerance", shortest(report.tolerance)},
      {"outcome", to_string(report.outcome)},
      {"residual_true", residuals},
      {"iterations", iterations}};
  for (const auto& [name, checksum] : report.gauge.checksums) attributes["gauge_" + name] = checksum.computed;
  return attributes;
}

std::string to_json(const GaugeSummary& gauge) { return gauge_json(gauge).dump(2); }

std::string to_json(const SolveReport& report) {
  Json json;
  json["schema_version"] = SolveReport::schema_version;
  json["outcome"] = to_string(report.outcome);
  json["explanation"] = report.explanation;
  json["device"] = report.device;
  json["blas"] = to_string(report.options.blas);
  json["precision"] = to_string(report.options.precision);
  json["links"] = reals_per_link(report.options.links);
  if (report.options.sloppy) {
    json["sloppy"] = to_string(*report.options.sloppy);
    json["sloppy_links"] = reals_per_link(iterated_links(report.options));
  }
  json["lattice"] = report.lattice;
  json["grid"] = report.grid;
  json["local_lattice"] = report.local;
  json["loopback"] = report.options.loopback;
  json["hosts"] = report.hosts;
  json["mapping"] = to_string(report.mapping);
  json["face_share_within_hosts"] = report.share_within_hosts;
  json["ranks"] = report.ranks;
  json["threads"] = report.threads;
  json["transport"] = report.transport;
  json["transports"] = transports_json(report.transports);
  if (report.sloppy_transports) json["sloppy_transports"] = transports_json(*report.sloppy_transports);
  json["tuning"] = to_json(report.tuning);
  if (report.sloppy_tuning) json["sloppy_tuning"] = to_json(*report.sloppy_tuning);
  json["system"] = report.system;
  json["source"] = report.source;
  json["mass"] = report.request.mass;
  json["boundary"] = to_string(report.options.boundary);
  json["tolerance"] = report.tolerance;
  json["max_iterations"] = report.request.max_iterations;
  json["conventions"] = {{"equation", equation(report.request.system)},
                         {"operator", hop_definition},
                         {"phases", to_string(report.request.phases)}};
  json["gauge"] = gauge_json(report.gauge);
  json["rhs"] = Json::array();
  for (const RhsReport& rhs : report.rhs) json["rhs"].push_back(rhs_json(rhs));
  json["pion_correlator"] = report.pion_correlator;
  json["condensate"] = nullptr;
  if (report.condensate)
    json["condensate"] = {{"value", report.condensate->value},
                          {"error", report.condensate->error},
                          {"n_vectors", report.condensate->n_vectors}};
  json["seconds"] = report.seconds;
  json["times"] = to_json(report.times);
  json["times_of_one_hop_in"] = report.times.one_hop_in;
  json["memory_bytes"] = Json::object();
  for (const auto& [object, bytes] : report.memory_bytes) json["memory_bytes"][object] = std::int64_t(bytes);
  json["predicted_memory_bytes"] = Json::object();
  for (const auto& [object, bytes] : report.predicted_memory_bytes)
    json["predicted_memory_bytes"][object] = std::int64_t(bytes);
  json["site_iterations_per_second"] = report.site_iterations_per_second;
  json["provenance"] = report.provenance;
  return json.dump(2) + "\n";
}

}  // namespace staghorn
