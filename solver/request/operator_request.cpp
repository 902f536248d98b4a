#include "solver/request/operator_request.hpp"

namespace staghorn {

OperatorOptions operator_options(const SessionOptions& options, int n_rhs, int cuda_device) {
  OperatorOptions result;
  result.boundary = options.boundary;
  result.precision = options.precision;
  result.reconstruct = options.links;
  result.n_rhs = n_rhs;
  result.cuda_device = cuda_device;
  result.overlap = options.overlap;
  result.transport = options.transport;
  result.tuning = options.tuning.value_or(Tuning::on);
  return result;
}

SessionOptions iterated_options(SessionOptions options) {
  options.links = iterated_links(options);
  options.precision = options.sloppy.value_or(options.precision);
  options.sloppy.reset();
  options.sloppy_links.reset();
  return options;
}

}  // namespace staghorn
