#include "solver/report/coarse/coarse_report.hpp"

#include "solver/report/setting_json.hpp"

namespace staghorn {

std::string to_json(const CoarseReport& report) {
  Json json;
  json["schema_version"] = CoarseReport::schema_version;
  json["verified"] = report.gauge.verified();
  json["device"] = report.device;
  json["precision"] = to_string(report.options.precision);
  json["links"] = reals_per_link(report.options.links);
  add_action(json, report);
  add_cut(json, report);
  json["ranks"] = report.ranks;
  json["threads"] = report.threads;
  json["boundary"] = to_string(report.options.boundary);
  json["conventions"] = {{"equation", "v near the null space of K = -D^2 on even sites; E(0) = P^+ K P"},
                         {"operator", hop_definition_of(report)}};
  json["vectors"] = report.request.vectors;
  json["iterations"] = report.request.iterations;
  json["seed"] = report.request.seed;
  json["calls"] = report.calls;
  json["values"] = report.values;
  json["residuals"] = report.residuals;
  json["coarse"] = coarse_json(report.space);
  json["gauge"] = gauge_json(report.gauge);
  json["seconds"] = seconds_json(report.seconds);
  json["memory_bytes"] = bytes_json(report.memory_bytes);
  json["provenance"] = report.provenance;
  return text_of_json(std::move(json)) + "\n";
}

}  // namespace staghorn
