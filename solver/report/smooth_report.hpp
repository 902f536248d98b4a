// What smoothing, gauge fixing or measuring a configuration is asked, and what it found: plain data, written as JSON
// with a versioned schema.
#pragma once

#include <complex>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dirac/gauge/gauge_observables.hpp"
#include "dirac/gauge/smoothing/field_strength.hpp"
#include "solver/report/run_setting.hpp"

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
// Throws Error naming the option that makes no sense, or belongs to another method. Local.
SmoothSetting setting_of(const SmoothRequest& request);

// Links as they are at one time of a flow, or before and after other methods.
struct GaugeMeasurement {
  double time = 0;  // of a flow, in units of a^2
  Plaquette plaquette;
  std::complex<double> polyakov;  // mean of tr P / 3
  FieldStrength field;
};

// Scales of a flow in lattice units, nothing where the flow ended before.
struct FlowScales {
  std::optional<double> t0;  // t^2 E(t) = 0.3 at t = t0     [Luescher, arXiv:1006.4518]
  std::optional<double> w0;  // t d/dt (t^2 E) = 0.3 at t = w0^2     [Borsanyi et al., arXiv:1203.4469]
};
// From measurements at equal distances in time, the derivative by central differences, both by linear interpolation.
// Local.
FlowScales flow_scales(const std::vector<GaugeMeasurement>& flow);

struct GaugeFixingReport {
  double functional_before = 0, functional = 0, theta = 0;
  int sweeps = 0;
};

struct WilsonLoop {
  int distance, time;
  double value;  // mean of Re tr W / 3
};

struct SmoothReport {
  static constexpr int schema_version = 1;
  bool converged = true;  // false where gauge fixing ran out of sweeps
  SmoothSetting setting;
  GaugeSummary gauge;
  GaugeMeasurement before, after;
  std::vector<GaugeMeasurement> flow;  // both ends too; empty unless there was a flow
  FlowScales scales;
  std::optional<GaugeFixingReport> fixing;
  std::vector<WilsonLoop> loops;
  std::string output;  // file of the links at the end; "": none
  Extents lattice{};
  int ranks = 1, threads = 1;
  double seconds = 0;
  std::map<std::string, std::string> provenance;
};

std::string to_json(const SmoothReport& report);  // pretty-printed, one trailing newline

}  // namespace staghorn
