#include "solver/gauge/gauge_setting.hpp"

#include <omp.h>

#include "solver/report/provenance.hpp"

namespace staghorn {

void fill_setting(RunSetting& setting, const Gauge& gauge, const StaggeredOperator& d) {
  const Context& context = gauge.context();
  const Lattice& lattice = context.lattice();
  setting.device = context.device();
  setting.devices = context.devices();
  setting.unlike_ranks = d.options().unlike_ranks;
  setting.transport = d.transport();
  setting.transports = d.transport_choice();
  setting.tuning = d.tuning();
  setting.options = gauge.options();
  setting.lattice = lattice.global();
  setting.grid = lattice.grid();
  setting.hosts = context.placement().hosts;
  setting.mapping = context.placement().mapping;
  setting.share_within_hosts = context.placement().share_within_hosts;
  setting.local = lattice.local();
  setting.widths = lattice.widths();
  setting.ranks = context.communicator().size();
  setting.threads = omp_get_max_threads();
  setting.gauge = gauge.links().summary();
  if (const ImprovedGauge* improved = gauge.links().improved()) setting.improved = improved->summary;
  setting.provenance = run_provenance(!context.communicator().is_alone());
  setting.provenance["kernels"] = d.kernel_set();
  if (context.cublas()) setting.provenance["cublas"] = context.cublas()->version();
}

}  // namespace staghorn
