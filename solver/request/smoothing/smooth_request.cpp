#include "solver/request/smoothing/smooth_request.hpp"

#include <algorithm>
#include <cmath>

#include "halo/named_choice.hpp"
#include "solver/request/option_text.hpp"

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

// Numbers between separators.
template <class Number>
std::vector<Number> parse_list(std::string text, char separator) {
  std::replace(text.begin(), text.end(), separator, ',');
  std::vector<Number> numbers;
  for (const std::string& word : parse_words(text)) numbers.push_back(parse_number<Number>(word));
  return numbers;
}

}  // namespace

std::string to_string(SmoothMethod method) { return methods.name(method); }
SmoothMethod parse_smooth_method(const std::string& text) { return methods.parse(text); }

const std::vector<SmoothOption>& smooth_options() {
  const auto row = [](const char* name, auto parse, auto field) {
    return SmoothOption{name, [=](SmoothRequest& request, const std::string& text) { request.*field = parse(text); }};
  };
  using R = SmoothRequest;
  static const std::vector<SmoothOption> table = {
      row("method", parse_smooth_method, &R::method),
      row("time", parse_number<double>, &R::time),
      row("step", parse_number<double>, &R::step),
      row("measure_every", parse_number<int>, &R::measure_every),
      row("steps", parse_number<int>, &R::steps),
      row(
          "weights", [](const std::string& text) { return parse_list<double>(text, ','); }, &R::weights),
      row("space_only", parse_switch, &R::space_only),
      row("relaxation", parse_number<double>, &R::relaxation),
      row("tolerance", parse_number<double>, &R::tolerance),
      row("max_sweeps", parse_number<int>, &R::max_sweeps),
      row(
          "loops", [](const std::string& text) { return parse_list<int>(text, 'x'); }, &R::loops)};
  return table;
}

void set_smooth_option(SmoothRequest& request, const std::string& name, const std::string& text) {
  const auto& table = smooth_options();
  const auto found = std::find_if(table.begin(), table.end(), [&](const auto& option) { return name == option.name; });
  if (found == table.end()) throw Error("option", "one of those of `smooth`", "'" + name + "'");
  try {
    found->set(request, text);
  } catch (const Error& error) {
    throw Error(about_option(name, error.what()));
  }
}

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
  std::string shown;
  for (const int extent : request.loops) shown += (shown.empty() ? "" : "x") + std::to_string(extent);
  if (request.loops.size() != 2 || request.loops[0] < 1 || request.loops[1] < 1)
    throw Error("loops", "two extents RxT of at least 1", shown);
  setting.loop_distance = request.loops[0];
  setting.loop_time = request.loops[1];
  return setting;
}

}  // namespace staghorn
