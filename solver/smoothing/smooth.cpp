#include "solver/smoothing/smooth.hpp"

#include <omp.h>

#include <cmath>

#include "dirac/gauge/improved_links.hpp"
#include "dirac/gauge/smoothing/cuda_gradient_flow.hpp"
#include "dirac/gauge/smoothing/gauge_fixing.hpp"
#include "dirac/gauge/smoothing/gauge_loops.hpp"
#include "dirac/gauge/smoothing/gradient_flow.hpp"
#include "dirac/gauge/smoothing/smearing.hpp"
#include "halo/cuda/device_scope.hpp"
#include "halo/device_choice.hpp"
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

// Links on the host, with the functions of CudaGradientFlow.
struct HostFlow {
  GradientFlow flow;
  LinkField& links;

  void runge_kutta_step(const Communicator& all, double step) { flow.runge_kutta_step(all, links, step); }
  void euler_step(const Communicator& all, double step) { flow.euler_step(all, links, step); }
  Plaquette plaquette(const Communicator& all) const { return staghorn::plaquette(all, links); }
  std::complex<double> polyakov_loop(const Communicator& all) const { return staghorn::polyakov_loop(all, links); }
  FieldStrength field_strength(const Communicator& all) const {
    return staghorn::field_strength(all, flow.rims(), links);
  }
  void copy_to_host(LinkField&) const {}
};

FlowAction action_of(const SmoothSetting& setting) {
  if (setting.method == SmoothMethod::symanzik) return symanzik_action;
  return {1, 0, setting.space_only ? 3 : 4};
}

template <class Flow>
GaugeMeasurement measure(const Communicator& communicator, Flow& links, double time) {
  return {time, links.plaquette(communicator), links.polyakov_loop(communicator), links.field_strength(communicator)};
}

// From report.before to report.after.
template <class Flow>
void flow(const Smoothing& work, Flow& links) {
  const SmoothSetting& setting = work.setting;
  SmoothReport& report = work.report;
  for (int n = 0; n <= setting.steps; ++n) {
    if (n > 0) {
      work.begin_step();
      links.runge_kutta_step(work.communicator, setting.step);
    }
    const bool is_row = n % setting.measure_every == 0;
    if (n > 0 && (is_row || n == setting.steps)) report.after = measure(work.communicator, links, n * setting.step);
    if (!is_row) continue;
    report.flow.push_back(n == 0 ? report.before : report.after);
    if (work.watch.measured) work.watch.measured(report.flow.back());
  }
  report.scales = flow_scales(report.flow);
}

template <class Flow>
void stout(const Smoothing& work, Flow& links) {
  for (int n = 0; n < work.setting.steps; ++n) {
    work.begin_step();
    links.euler_step(work.communicator, work.setting.weights[0]);
  }
}

void smear(const Smoothing& work) {
  const SmoothSetting& setting = work.setting;
  const std::vector<double>& weights = setting.weights;
  for (int n = 0; n < setting.steps; ++n) {
    work.begin_step();
    if (setting.method == SmoothMethod::ape)
      work.links = ape_smeared(work.communicator, work.links, weights[0], setting.space_only ? 3 : 4);
    else
      work.links = hyp_smeared(work.communicator, work.links, {weights[0], weights[1], weights[2]});
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

void check(const SmoothSetting& setting, const Extents& lattice) {
  const double longest = longest_stable_step(action_of(setting));
  if (setting.flows() && setting.step > longest)
    throw Error("step", "at most " + three_digits(longest) + ", beyond which the flow is unstable", setting.step);
  const int shortest = std::min({lattice[0], lattice[1], lattice[2]});
  if (setting.loop_distance > shortest || setting.loop_time > lattice[3])
    throw Error("loops", "at most " + std::to_string(shortest) + "x" + std::to_string(lattice[3]) + " on this lattice",
                std::to_string(setting.loop_distance) + "x" + std::to_string(setting.loop_time));
}

// The method, with measurements before and after.
template <class Flow>
void run(const Smoothing& work, Flow&& links) {
  const SmoothSetting& setting = work.setting;
  work.report.before = work.report.after = measure(work.communicator, links, 0);
  if (setting.flows()) flow(work, links);
  if (setting.method == SmoothMethod::stout)
    stout(work, links);
  else if (setting.smears())
    smear(work);
  if (setting.fixes()) fix(work);
  if (setting.smears() || setting.fixes()) work.report.after = measure(work.communicator, links, 0);
  if (!std::isfinite(work.report.after.plaquette.all))
    throw Error("weights", "numbers that leave the links finite", setting.weights[0]);
  links.copy_to_host(work.links);
}

}  // namespace

int device_for(const Communicator& communicator, const Lattice& lattice, const SmoothSetting& setting,
               const std::string& device) {
  const bool runs_on_gpus = setting.flows() || setting.method == SmoothMethod::stout;
  const bool asked_for = device.starts_with("cuda");
  const int rank_on_host = communicator.rank_on_host();
  int cuda_device = -1;
  communicator.agree([&] {
    if (asked_for && !runs_on_gpus)
      throw Error("device", "auto or cpu for `method` " + to_string(setting.method), "'" + device + "'");
    cuda_device = choose_device(runs_on_gpus ? device : "cpu", communicator, rank_on_host);
  });
  const cuda::DeviceScope scope(cuda_device);
  const double bytes = CudaGradientFlow::bytes(lattice, action_of(setting));
  if (space_for_bytes(communicator, bytes, cuda_device) == MemorySpace::cuda) return cuda_device;
  if (asked_for)
    throw Error(ErrorKind::memory, "device", "a GPU of each rank with memory for its links, or auto or cpu",
                "'" + device + "', where too little is free");
  return -1;
}

SmoothReport smooth(const Communicator& communicator, LinkField& links, const SmoothSetting& setting, int cuda_device,
                    const SmoothWatch& watch) {
  const Lattice& lattice = links.lattice();
  check(setting, lattice.global());
  SmoothReport report;
  report.setting = setting;
  report.lattice = lattice.global();
  report.ranks = communicator.size();
  report.threads = omp_get_max_threads();
  report.device = describe_device(cuda_device);
  report.provenance = run_provenance(!communicator.is_alone());
  const Stopwatch stopwatch;
  const Smoothing work{communicator, links, setting, watch, report};
  const cuda::DeviceScope scope(cuda_device);
  if (cuda_device >= 0)
    run(work, CudaGradientFlow(communicator, links, action_of(setting)));
  else
    run(work, HostFlow{GradientFlow(lattice, action_of(setting)), links});
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
