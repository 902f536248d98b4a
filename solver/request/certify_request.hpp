// What `staghorn certify` is asked: plain data with defaults and units. What is left open is found.
#pragma once

#include <optional>

#include "dirac/algebra/precision.hpp"
#include "solver/request/quark_action.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

struct CertifyRequest {
  std::optional<double> mass;    // lattice mass a m; nothing: any
  std::optional<System> system;  // nothing: any
  PhaseConvention phases = PhaseConvention::cps;
  QuarkAction quarks;                  // made from the thin links of the session, or stored links that it has
  Precision stored = Precision::fp64;  // of the numbers of solutions and sources, the lower of both
  std::optional<double> tolerance;     // on |b - M x| / |b|; nothing: that of `stored`
  bool search = true;                  // for other conventions where this one does not fit
  bool any_convention = false;         // a solution in any convention is certified
};

// The tolerance in force: the request's own, or 1e-10 of numbers in fp64, 1e-6 of numbers in fp32. Local.
inline double tolerance_in_force(const CertifyRequest& request) {
  return request.tolerance.value_or(request.stored == Precision::fp64 ? 1e-10 : 1e-6);
}

}  // namespace staghorn
