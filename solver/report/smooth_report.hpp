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
#include "solver/request/smoothing/smooth_request.hpp"

namespace staghorn {

// Links as they are at one time of a flow, or before and after other methods.
struct GaugeMeasurement {
  double time = 0;  // of a flow, in units of a^2
  Plaquette plaquette;
  std::complex<double> polyakov;  // mean of tr P / 3
  FieldStrength field;

  // 2 sum over mu < nu of Re tr(1 - U_P), mean over sites: E of the plaquette [arXiv:1006.4518, eq. 3.1]
  double energy_of_plaquettes() const { return 36 * (1 - plaquette.all); }
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
  std::string device;  // "cpu" or "cuda:0 (NVIDIA H200)", of the first rank
  int ranks = 1, threads = 1;
  double seconds = 0;
  std::map<std::string, std::string> provenance;
};

std::string to_json(const SmoothReport& report);  // pretty-printed, one trailing newline

}  // namespace staghorn
