#include "solver/smoothing/smooth.hpp"

#include <omp.h>

#include "dirac/gauge/smoothing/gauge_fixing.hpp"
#include "dirac/gauge/smoothing/gauge_loops.hpp"
#include "dirac/gauge/smoothing/gradient_flow.hpp"
#include "dirac/gauge/smoothing/smearing.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/stopwatch.hpp"
#include "solver/report/provenance.hpp"

namespace staghorn {

namespace {

// A report that is being filled.
struct Smoothing {
  const Communicator& communicator;
  LinkField& links;
  const SmoothSetting& setting;
  const SmoothWatch& watch;
  SmoothReport& report;

  void begin_step() const {
    if (watch.step_begins) watch.step_begins();
  }
};

GaugeMeasurement measure(const Communicator& communicator, const Rims& rims, const LinkField& links, double time) {
  return {time, plaquette(communicator, links), polyakov_loop(communicator, links),
          field_strength(communicator, rims, links)};
}

void flow(const Smoothing& work) {
  const SmoothSetting& setting = work.setting;
  GradientFlow flow(work.links.lattice(), setting.method == SmoothMethod::wilson ? FlowAction() : symanzik_action);
  for (int n = 0; n <= setting.steps; ++n) {
    if (n > 0) {
      work.begin_step();
      flow.runge_kutta_step(work.communicator, work.links, setting.step);
    }
    if (n % setting.measure_every != 0) continue;
    work.report.flow.push_back(measure(work.communicator, flow.rims(), work.links, n * setting.step));
    if (work.watch.measured) work.watch.measured(work.report.flow.back());
  }
  work.report.scales = flow_scales(work.report.flow);
}

void smear(const Smoothing& work) {
  const SmoothSetting& setting = work.setting;
  const int directions = setting.space_only ? 3 : 4;
  std::optional<GradientFlow> stout;
  if (setting.method == SmoothMethod::stout) stout.emplace(work.links.lattice(), FlowAction{1, 0, directions});
  for (int n = 0; n < setting.steps; ++n) {
    work.begin_step();
    if (stout)
      stout->euler_step(work.communicator, work.links, setting.weights[0]);
    else if (setting.method == SmoothMethod::ape)
      work.links = ape_smeared(work.communicator, work.links, setting.weights[0], directions);
    else
      work.links =
          hyp_smeared(work.communicator, work.links, {setting.weights[0], setting.weights[1], setting.weights[2]});
  }
}

void fix(const Smoothing& work) {
  const SmoothSetting& setting = work.setting;
  const GaugeCondition condition =
      setting.method == SmoothMethod::coulomb ? GaugeCondition::coulomb : GaugeCondition::landau;
  GaugeFunctional now = gauge_functional(work.communicator, work.links, condition);
  GaugeFixingReport fixing{now.functional, now.functional, now.theta, 0};
  while (now.theta > setting.tolerance && fixing.sweeps < setting.max_sweeps) {
    work.begin_step();
    relaxation_sweep(work.communicator, work.links, condition, setting.relaxation);
    ++fixing.sweeps;
    now = gauge_functional(work.communicator, work.links, condition);
  }
  fixing.functional = now.functional;
  fixing.theta = now.theta;
  work.report.fixing = fixing;
  work.report.converged = now.theta <= setting.tolerance;
}

void check_loops(const SmoothSetting& setting, const Extents& lattice) {
  const int shortest = std::min({lattice[0], lattice[1], lattice[2]});
  if (setting.loop_distance > shortest || setting.loop_time > lattice[3])
    throw Error("loops", "at most " + std::to_string(shortest) + "x" + std::to_string(lattice[3]) + " on this lattice",
                std::to_string(setting.loop_distance) + "x" + std::to_string(setting.loop_time));
}

}  // namespace

SmoothReport smooth(const Communicator& communicator, LinkField& links, const SmoothSetting& setting,
                    const SmoothWatch& watch) {
  const Lattice& lattice = links.lattice();
  check_loops(setting, lattice.global());
  SmoothReport report;
  report.setting = setting;
  report.lattice = lattice.global();
  report.ranks = communicator.size();
  report.threads = omp_get_max_threads();
  report.provenance = run_provenance(!communicator.is_alone());
  const Stopwatch stopwatch;
  const Rims rims(lattice, 1);
  report.before = measure(communicator, rims, links, 0);
  const Smoothing work{communicator, links, setting, watch, report};
  if (setting.flows()) flow(work);
  if (setting.smears()) smear(work);
  if (setting.fixes()) fix(work);
  report.after = measure(communicator, rims, links, setting.flows() ? setting.steps * setting.step : 0);
  if (setting.loop_distance > 0) {
    const std::vector<double> loops = wilson_loops(communicator, links, setting.loop_distance, setting.loop_time);
    for (int r = 1; r <= setting.loop_distance; ++r)
      for (int t = 1; t <= setting.loop_time; ++t)
        report.loops.push_back({r, t, loops[std::size_t((r - 1) * setting.loop_time + t - 1)]});
  }
  report.seconds = stopwatch.seconds();
  return report;
}

}  // namespace staghorn
