// What smoothing, gauge fixing or measuring a configuration is asked.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace staghorn {

// none: links stay, and are measured. wilson, symanzik: the gradient flow of these actions. ape, stout, hyp: smearing.
// coulomb, landau: gauge fixing.
enum class SmoothMethod { none, wilson, symanzik, ape, stout, hyp, coulomb, landau };
std::string to_string(SmoothMethod method);
SmoothMethod parse_smooth_method(const std::string& text);  // throws Error naming the choices

// What is left open has the default of the method (SmoothSetting).
struct SmoothRequest {
  SmoothMethod method = SmoothMethod::none;
  // Of a flow, in units of a^2: how far, a multiple of the step; the step; after how many steps E and Q are measured.
  std::optional<double> time, step;
  std::optional<int> measure_every;
  // Of smearing: how often; alpha of ape, rho of stout, the three alphas of hyp; all directions or space alone.
  std::optional<int> steps;
  std::vector<double> weights;
  std::optional<bool> space_only;
  // Of gauge fixing: over-relaxation, theta at which it ends, and the most sweeps.
  std::optional<double> relaxation, tolerance;
  std::optional<int> max_sweeps;
  std::vector<int> loops;  // R, T: Wilson loops up to that size, of the links at the end
};

// A request with every value in force.
struct SmoothSetting {
  SmoothMethod method = SmoothMethod::none;
  double step = 0.02;
  int steps = 1;  // of a flow or of smearing
  int measure_every = 1;
  std::vector<double> weights;
  bool space_only = false;
  double relaxation = 1.7, tolerance = 1e-12;
  int max_sweeps = 10000;
  int loop_distance = 0, loop_time = 0;

  bool flows() const { return method == SmoothMethod::wilson || method == SmoothMethod::symanzik; }
  bool smears() const {
    return method == SmoothMethod::ape || method == SmoothMethod::stout || method == SmoothMethod::hyp;
  }
  bool fixes() const { return method == SmoothMethod::coulomb || method == SmoothMethod::landau; }
};

struct SmoothOption {
  const char* name;                                             // "measure_every"; the program writes --measure-every
  std::function<void(SmoothRequest&, const std::string&)> set;  // throws Error
};
// Of program and Python. Local.
const std::vector<SmoothOption>& smooth_options();
// Sets the option `name` to what `text` says. Throws Error naming an option that there is not, and texts that it cannot
// be. Local.
void set_smooth_option(SmoothRequest& request, const std::string& name, const std::string& text);

// Throws Error naming the option that makes no sense, or belongs to another method. Local.
SmoothSetting setting_of(const SmoothRequest& request);

}  // namespace staghorn
