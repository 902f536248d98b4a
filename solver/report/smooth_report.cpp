#include "solver/report/smooth_report.hpp"

#include <algorithm>
#include <cmath>

#include "halo/named_choice.hpp"
#include "solver/report/setting_json.hpp"

namespace staghorn {

namespace {

constexpr NamedChoice<SmoothMethod, 8> methods{"method",
                                               {{{SmoothMethod::none, "none"},
                                                 {SmoothMethod::wilson, "wilson"},
                                                 {SmoothMethod::symanzik, "symanzik"},
                                                 {SmoothMethod::ape, "ape"},
                                                 {SmoothMethod::stout, "stout"},
                                                 {SmoothMethod::hyp, "hyp"},
                                                 {SmoothMethod::coulomb, "coulomb"},
                                                 {SmoothMethod::landau, "landau"}}}};

void require_at_least(const char* option, int value, int least) {
  if (value < least) throw Error(option, "a number of at least " + std::to_string(least), value);
}

void require_positive(const char* option, double value) {
  if (!(value > 0 && std::isfinite(value))) throw Error(option, "a number above 0", value);
}

// Sets `value` to what is given, which must belong to the method.
template <class Value>
void take(const char* option, const std::optional<Value>& given, bool belongs, const std::string& owners,
          const SmoothSetting& setting, Value& value) {
  if (!given) return;
  if (!belongs) throw Error(option, "`method` " + owners + " beside it", to_string(setting.method));
  value = *given;
}

std::vector<double> usual_weights(SmoothMethod method) {
  if (method == SmoothMethod::ape) return {0.6};
  if (method == SmoothMethod::stout) return {0.1};
  return {0.75, 0.6, 0.3};
}

void set_weights(const SmoothRequest& request, SmoothSetting& setting) {
  if (!setting.smears()) {
    if (!request.weights.empty())
      throw Error("weights", "`method` ape, stout or hyp beside it", to_string(setting.method));
    return;
  }
  const std::vector<double> usual = usual_weights(setting.method);
  setting.weights = request.weights.empty() ? usual : request.weights;
  if (setting.weights.size() != usual.size())
    throw Error("weights", usual.size() == 1 ? "one number" : "three numbers", std::to_string(setting.weights.size()));
  for (const double weight : setting.weights)
    if (!std::isfinite(weight)) throw Error("weights", "finite numbers", weight);
}

// The number of steps to `time`.
int steps_to(double time, double step) {
  require_positive("step", step);
  if (!(time >= 0 && std::isfinite(time))) throw Error("time", "a number of at least 0", time);
  const double steps = std::round(time / step);
  if (steps > 1e9) throw Error("time", "at most 1e9 steps", time / step);
  if (std::fabs(steps * step - time) > 1e-9 * time)
    throw Error("time", "a multiple of `step`, " + three_digits(step), time);
  return int(steps);
}

}  // namespace

std::string to_string(SmoothMethod method) { return methods.name(method); }
SmoothMethod parse_smooth_method(const std::string& text) { return methods.parse(text); }

SmoothSetting setting_of(const SmoothRequest& request) {
  SmoothSetting setting;
  setting.method = request.method;
  const bool flows = setting.flows(), smears = setting.smears(), fixes = setting.fixes();
  const char* const of_flows = "wilson or symanzik";
  const char* const of_fixing = "coulomb or landau";
  double time = 0;
  take("step", request.step, flows, of_flows, setting, setting.step);
  take("time", request.time, flows, of_flows, setting, time);
  if (flows && !request.time) throw Error("time", "how far the links are to flow", "none");
  if (flows) setting.steps = steps_to(time, setting.step);
  take("measure_every", request.measure_every, flows, of_flows, setting, setting.measure_every);
  require_at_least("measure_every", setting.measure_every, 1);
  take("steps", request.steps, smears, "ape, stout or hyp", setting, setting.steps);
  require_at_least("steps", setting.steps, 0);
  set_weights(request, setting);
  take("space_only", request.space_only, smears && setting.method != SmoothMethod::hyp, "ape or stout", setting,
       setting.space_only);
  take("relaxation", request.relaxation, fixes, of_fixing, setting, setting.relaxation);
  if (!(setting.relaxation >= 1 && setting.relaxation < 2))
    throw Error("relaxation", "a number from 1 to below 2", setting.relaxation);
  take("tolerance", request.tolerance, fixes, of_fixing, setting, setting.tolerance);
  require_positive("tolerance", setting.tolerance);
  take("max_sweeps", request.max_sweeps, fixes, of_fixing, setting, setting.max_sweeps);
  require_at_least("max_sweeps", setting.max_sweeps, 0);
  if (request.loops.empty()) return setting;
  if (request.loops.size() != 2 || request.loops[0] < 1 || request.loops[1] < 1)
    throw Error("loops", "two extents RxT of at least 1", std::to_string(request.loops.size()) + " numbers");
  setting.loop_distance = request.loops[0];
  setting.loop_time = request.loops[1];
  return setting;
}

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
  return {{"plaquette", at.plaquette.all},       {"plaquette_space", at.plaquette.space},
          {"plaquette_time", at.plaquette.time}, {"polyakov", {at.polyakov.real(), at.polyakov.imag()}},
          {"energy", at.field.energy()},         {"energy_space", at.field.energy_space},
          {"energy_time", at.field.energy_time}, {"charge", at.field.charge}};
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
  json["ranks"] = report.ranks;
  json["threads"] = report.threads;
  json["gauge"] = gauge_json(report.gauge);
  json["seconds"] = seconds_json(report.seconds);
  json["provenance"] = report.provenance;
  return text_of_json(std::move(json)) + "\n";
}

}  // namespace staghorn
