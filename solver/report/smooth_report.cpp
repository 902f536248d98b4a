#include "solver/report/smooth_report.hpp"

#include <cmath>

#include "solver/report/setting_json.hpp"

namespace staghorn {

FlowScales flow_scales(const std::vector<GaugeMeasurement>& flow) {
  constexpr double target = 0.3;
  // Where the line between two points crosses the target, the first time.
  const auto crossing = [&](std::size_t begin, std::size_t end, const auto& value) -> std::optional<double> {
    for (std::size_t i = begin; i + 1 < end; ++i) {
      const double low = value(i), high = value(i + 1);
      if (low < target && high >= target)
        return flow[i].time + (flow[i + 1].time - flow[i].time) * ((target - low) / (high - low));
    }
    return std::nullopt;
  };
  const auto t2_energy = [&](std::size_t i) { return flow[i].time * flow[i].time * flow[i].field.energy(); };
  const auto slope = [&](std::size_t i) {
    return flow[i].time * ((t2_energy(i + 1) - t2_energy(i - 1)) / (flow[i + 1].time - flow[i - 1].time));
  };
  FlowScales scales;
  scales.t0 = crossing(0, flow.size(), t2_energy);
  if (flow.size() > 3) scales.w0 = crossing(1, flow.size() - 1, slope);
  if (scales.w0) scales.w0 = std::sqrt(*scales.w0);
  return scales;
}

namespace {

Json measurement_json(const GaugeMeasurement& at) {
  return {{"plaquette", at.plaquette.all},
          {"plaquette_space", at.plaquette.space},
          {"plaquette_time", at.plaquette.time},
          {"polyakov", {at.polyakov.real(), at.polyakov.imag()}},
          {"energy", at.field.energy()},
          {"energy_space", at.field.energy_space},
          {"energy_time", at.field.energy_time},
          {"energy_plaquette", at.energy_of_plaquettes()},
          {"charge", at.field.charge}};
}

Json flow_json(const std::vector<GaugeMeasurement>& flow) {
  Json json = Json::array();
  for (const GaugeMeasurement& at : flow) {
    json.push_back({{"t", at.time}, {"t2_energy", at.time * at.time * at.field.energy()}});
    json.back().update(measurement_json(at));
  }
  return json;
}

// What was in force, of the method alone.
Json parameters_json(const SmoothSetting& setting) {
  Json json = Json::object();
  if (setting.flows()) {
    json["step"] = setting.step;
    json["measure_every"] = setting.measure_every;
  }
  if (setting.flows() || setting.smears()) json["steps"] = setting.steps;
  if (setting.smears()) {
    json["weights"] = setting.weights;
    json["space_only"] = setting.space_only;
  }
  if (setting.fixes()) {
    json["relaxation"] = setting.relaxation;
    json["tolerance"] = setting.tolerance;
    json["max_sweeps"] = setting.max_sweeps;
  }
  return json;
}

}  // namespace

std::string to_json(const SmoothReport& report) {
  Json json;
  json["schema_version"] = SmoothReport::schema_version;
  json["outcome"] = report.converged ? "done" : "not_converged";
  json["method"] = to_string(report.setting.method);
  json["parameters"] = parameters_json(report.setting);
  json["before"] = measurement_json(report.before);
  json["after"] = measurement_json(report.after);
  json["flow"] = flow_json(report.flow);
  json["t0"] = or_null(report.scales.t0);
  json["w0"] = or_null(report.scales.w0);
  json["gauge_fixing"] = nullptr;
  if (report.fixing)
    json["gauge_fixing"] = {{"functional_before", report.fixing->functional_before},
                            {"functional", report.fixing->functional},
                            {"theta", report.fixing->theta},
                            {"sweeps", report.fixing->sweeps}};
  json["wilson_loops"] = Json::array();
  for (const WilsonLoop& loop : report.loops)
    json["wilson_loops"].push_back({{"r", loop.distance}, {"t", loop.time}, {"value", loop.value}});
  json["output"] = or_null(report.output);
  json["lattice"] = report.lattice;
  json["device"] = report.device;
  json["ranks"] = report.ranks;
  json["threads"] = report.threads;
  json["gauge"] = gauge_json(report.gauge);
  json["seconds"] = seconds_json(report.seconds);
  json["provenance"] = report.provenance;
  return text_of_json(std::move(json)) + "\n";
}

}  // namespace staghorn
