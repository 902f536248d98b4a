#include "solver/request/solve_request.hpp"

#include "halo/watch/error.hpp"

namespace staghorn {

std::string to_string(System system) {
  switch (system) {
    case System::full:
      return "full";
    case System::even:
      return "even";
    case System::odd:
      return "odd";
  }
  throw Error("unknown system");
}

System parse_system(const std::string& text) {
  for (System system : {System::full, System::even, System::odd})
    if (text == to_string(system)) return system;
  throw Error("system", "full, even or odd", "'" + text + "'");
}

std::string to_string(PhaseConvention phases) { return phases == PhaseConvention::cps ? "cps" : "milc"; }

PhaseConvention parse_phase_convention(const std::string& text) {
  for (PhaseConvention phases : {PhaseConvention::cps, PhaseConvention::milc})
    if (text == to_string(phases)) return phases;
  throw Error("phases", "cps or milc", "'" + text + "'");
}

std::string to_string(Blas blas) { return blas == Blas::fused ? "fused" : "cublas"; }

Precision parse_sloppy(const std::string& text) {
  for (Precision sloppy : {Precision::fp32, Precision::fp16})
    if (text == to_string(sloppy)) return sloppy;
  throw Error("sloppy", "fp32 or fp16", "'" + text + "'");
}

Blas parse_blas(const std::string& text) {
  for (Blas blas : {Blas::fused, Blas::cublas})
    if (text == to_string(blas)) return blas;
  throw Error("blas", "fused or cublas", "'" + text + "'");
}

Reconstruct iterated_links(const SessionOptions& options) {
  return options.sloppy ? options.sloppy_links.value_or(Reconstruct::row12) : options.links;
}

std::string describe_numbers(const SessionOptions& options) {
  std::string precision = to_string(options.precision), links = to_string(options.links);
  if (options.sloppy) {
    precision += "/" + to_string(*options.sloppy);
    links += "/" + to_string(iterated_links(options));
  }
  return precision + ", " + links + " reals a link";
}

double tolerance_in_force(const SolveRequest& request, Precision precision) {
  return request.tolerance.value_or(precision == Precision::fp64 ? 1e-10 : 1e-5);
}

}  // namespace staghorn
