#include "solver/report/setting_json.hpp"

#include "solver/report/solve_report.hpp"

namespace staghorn {

Json checksums_json(const std::map<std::string, ChecksumResult>& checksums) {
  Json json = Json::object();
  for (const auto& [name, c] : checksums)
    json[name] = {{"stored", c.stored}, {"computed", c.computed}, {"match", c.match}};
  return json;
}

Json seconds_json(const std::map<std::string, double>& parts) {
  Json json = Json::object();
  for (const auto& [part, seconds] : parts) json[part] = seconds_json(seconds);
  return json;
}

Json bytes_json(const std::map<std::string, double>& objects) {
  Json json = Json::object();
  for (const auto& [object, bytes] : objects) json[object] = std::int64_t(bytes);
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
          {"verified", gauge.verified()},
          {"checksums", checksums_json(gauge.checksums)},
          {"warnings", gauge.warnings}};
}

std::string to_json(const GaugeSummary& gauge) { return text_of_json(gauge_json(gauge)); }

void add_cut(Json& json, const RunSetting& setting) {
  json["lattice"] = setting.lattice;
  json["grid"] = setting.grid;
  json["local_lattice"] = setting.local;
  json["widths"] = setting.widths;
  json["shares"] = shares_json(setting.options);
  json["slow_device"] = to_string(setting.options.slow_device);
}

void add_action(Json& json, const RunSetting& setting) {
  if (!setting.improved) {
    json["action"] = "naive";
    return;
  }
  const ImprovedSummary& improved = *setting.improved;
  json["action"] = improved.action;
  json["u0"] = or_null(improved.u0);
  json["naik_epsilon"] = or_null(improved.naik_epsilon);
  json["naik_links"] = reals_per_link(setting.options.naik_links);
  if (setting.options.sloppy) json["sloppy_naik_links"] = reals_per_link(iterated_naik_links(setting.options));
  json["improved"] = {{"smallest_singular_value", or_null(improved.smallest_singular_value)},
                      {"smallest_determinant", or_null(improved.smallest_determinant)},
                      {"made_on", or_null(improved.made_on)},
                      {"seconds", seconds_json(improved.seconds)},
                      {"device_seconds", seconds_json(improved.device_seconds)},
                      {"naik_scale", improved.naik_scale},
                      {"naik_unitarity", improved.naik_unitarity},
                      {"naik_projected", improved.naik_projected},
                      {"unitarize", or_null(improved.unitarize)},
                      {"phases_in_links", or_null(improved.phases_in_links)},
                      {"long_file", or_null(improved.long_file)}};
}

Json checkpoint_json(const std::optional<CheckpointSummary>& checkpoint, const char* resumed) {
  if (!checkpoint) return nullptr;
  return {{"file", checkpoint->file},
          {"written", checkpoint->written},
          {"seconds", seconds_json(checkpoint->seconds)},
          {"bytes", std::int64_t(checkpoint->bytes)},
          {"resumed_from", or_null(checkpoint->resumed_from)},
          {resumed, checkpoint->resumed_iterations},
          {"notes", checkpoint->notes}};
}

Json shares_json(const SessionOptions& options) {
  const ShareSummary* found = options.shares.measured.get();
  if (!found) return nullptr;
  Json json = {{"predicted_microseconds", found->predicted},
               {"measured_microseconds", found->measured},
               {"even_microseconds", found->even},
               {"of_all_microseconds", found->of_all},
               {"of_fewer_microseconds", positive_or_null(found->of_fewer)},
               {"of_fewer_measured", found->fewer_measured},
               {"left_out", found->left_out},
               {"kinds", Json::array()}};
  for (const ShareSummary::Kind& kind : found->kinds)
    json["kinds"].push_back({{"device", kind.device},
                             {"ranks", kind.ranks},
                             {"left_out", kind.left_out},
                             {"share", kind.share},
                             {"microseconds", kind.microseconds}});
  return json;
}

Json transports_json(const TransportChoice& choice) {
  Json json = {{"chosen", choice.name},
               {"reason", choice.reason},
               {"face_bytes", choice.face_bytes},
               {"test_seconds", seconds_json(choice.seconds)},
               {"tried", Json::array()}};
  for (const TransportTrial& trial : choice.tried)
    json["tried"].push_back({{"name", trial.name},
                             {"seconds", trial.left_out.empty() ? seconds_json(trial.seconds) : Json(nullptr)},
                             {"failed", trial.failed},
                             {"left_out", or_null(trial.left_out)}});
  return json;
}

Json to_json(const LaunchTuning& tuning) {
  const auto hop = [](const LaunchChoice& choice) -> Json { return {{"tile", choice.tile}, {"waves", choice.waves}}; };
  return {{"mode", to_string(tuning.mode)},
          {"tuned", tuning.tuned},
          {"remembered", tuning.remembered},
          {"seconds", seconds_json(tuning.seconds)},
          {"file", or_null(tuning.file)},
          {"not_kept", or_null(tuning.not_kept)},
          {"launches",
           {{"hop", hop(tuning.choices.hop)},
            {"residual", hop(tuning.choices.residual)},
            {"direction", {{"waves", tuning.choices.direction.waves}}}}}};
}

}  // namespace staghorn
