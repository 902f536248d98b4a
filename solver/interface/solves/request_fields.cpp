#include "solver/interface/solves/request_fields.hpp"

#include "solver/interface/structs.hpp"
#include "solver/request/solve_checks.hpp"

namespace staghorn {

void check(const staghorn_request& request) {
  check_choice("request.system", request.system, STAGHORN_FULL, STAGHORN_ODD);
  if (request.sign != 1 && request.sign != -1)
    throw Error(ErrorKind::argument, "request.sign", "+1 or -1", request.sign);
  check_choice("request.halved", request.halved, 0, 1);
  check_choice("request.precision", request.precision, STAGHORN_FP64, STAGHORN_FP32);
  check_choice("request.sloppy", request.sloppy, STAGHORN_FP64, STAGHORN_NO_SLOPPY);
  check_choice("request.stop", request.stop, STAGHORN_STOP_ON_SYSTEM, STAGHORN_STOP_ON_PARITY);
  check_choice("request.guess", request.guess, 0, 1);
  check_choice("request.chronological", request.chronological, 0, 32);
  check_finite("request.mass", request.mass);
  check_finite("request.tolerance", request.tolerance);
  check_finite("request.tolerance_hq", request.tolerance_hq);
  if (request.max_iterations < 0 && request.max_iterations != STAGHORN_NO_LIMIT)
    throw Error(ErrorKind::argument, "request.max_iterations", "a number of at least 0, or STAGHORN_NO_LIMIT",
                request.max_iterations);
  if (request.tolerance_hq < 0)
    throw Error(ErrorKind::argument, "request.tolerance_hq", "a number of at least 0", request.tolerance_hq);
}

void add(Asked& asked, const staghorn_request& request) {
  asked.add("request.system", request.system);
  asked.add("request.sign", request.sign);
  asked.add("request.halved", request.halved);
  asked.add("request.precision", request.precision);
  asked.add("request.sloppy", request.sloppy);
  asked.add("request.sloppy_reals", request.sloppy_reals);
  asked.add("request.stop", request.stop);
  asked.add("request.guess", request.guess);
  asked.add("request.chronological", request.chronological);
  asked.add("request.mass", request.mass);
  asked.add("request.tolerance", request.tolerance);
  asked.add("request.tolerance_hq", request.tolerance_hq);
  asked.add("request.max_iterations", request.max_iterations);
}

SolveOptions options_of(const staghorn_request& given, const SessionOptions& asked, bool improved) {
  SolveOptions options{asked, {}, {}, {}};
  SolveRequest& request = options.request;
  request.system = given.system == STAGHORN_FULL   ? System::full
                   : given.system == STAGHORN_EVEN ? System::even
                                                   : System::odd;
  request.mass = given.mass;
  request.chronological = given.chronological;
  if (given.tolerance != 0) request.tolerance = given.tolerance;
  if (given.tolerance_hq > 0) request.tolerance_hq = given.tolerance_hq;
  if (given.max_iterations != STAGHORN_NO_LIMIT) request.max_iterations = given.max_iterations;
  if (given.stop == STAGHORN_STOP_ON_PARITY) request.stop = StopOn::parity;
  SessionOptions& numbers = options.session;
  if (given.precision != STAGHORN_FP64) numbers.precision = Precision(given.precision);
  if (given.sloppy != STAGHORN_NO_SLOPPY) numbers.sloppy = Precision(given.sloppy);
  check_reals("request.sloppy_reals", given.sloppy_reals, improved ? LinkKind::naik : LinkKind::thin);
  if (numbers.sloppy && given.sloppy_reals != 0)
    (improved ? numbers.sloppy_naik_links : numbers.sloppy_links) = form_of(given.sloppy_reals);
  return options;
}

void scale_heavy_quarks(SolveRequest& request, double factor) {
  if (request.tolerance_hq) *request.tolerance_hq *= factor;
}

}  // namespace staghorn
