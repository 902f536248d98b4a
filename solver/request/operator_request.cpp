#include "solver/request/operator_request.hpp"

namespace staghorn {

Stencil stencil_of(const SessionOptions& options) {
  return options.quarks.improved() ? Stencil::improved : Stencil::naive;
}

OperatorOptions operator_options(const SessionOptions& options, int n_rhs, int cuda_device) {
  OperatorOptions result;
  result.boundary = options.boundary;
  result.precision = options.precision;
  result.stencil = stencil_of(options);
  result.reconstruct = options.quarks.improved() ? options.fat_links : options.links;
  if (options.quarks.improved()) result.naik_reconstruct = options.naik_links;
  result.n_rhs = n_rhs;
  result.cuda_device = cuda_device;
  result.overlap = options.overlap;
  result.transport = options.transport;
  result.tuning = options.tuning.value_or(Tuning::on);
  result.host_loop = options.host_loop;
  result.experiment = {options.slowness.value_or(1), options.inject};
  return result;
}

SessionOptions iterated_options(SessionOptions options) {
  options.links = iterated_links(options);
  options.naik_links = iterated_naik_links(options);
  options.precision = options.sloppy.value_or(options.precision);
  options.sloppy.reset();
  options.sloppy_links.reset();
  options.sloppy_naik_links.reset();
  return options;
}

}  // namespace staghorn
