// What a certificate of somebody's solution is asked, and what it found: plain data, written as JSON with a versioned
// schema.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dirac/algebra/precision.hpp"
#include "solver/report/convention.hpp"
#include "solver/report/run_setting.hpp"
#include "solver/request/quark_action.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

// What is asked. What is left open is found.
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

// certified: the residual is at most the tolerance, in the convention that was asked for. other_convention: so it is in
// another one, which was found. rounded: it is larger, but no larger than rounding of the stored numbers leaves.
// not_certified: no convention that was tried makes it small.
enum class CertifyOutcome { certified, other_convention, rounded, not_certified };
std::string to_string(CertifyOutcome outcome);

// A site where the residual is largest, and its share of |r|^2.
struct WorstSite {
  int rhs = 0;
  Coordinates site{};
  double share = 0;
};

struct CertifyReport {
  static constexpr int schema_version = 1;
  CertifyOutcome outcome = CertifyOutcome::not_certified;
  std::string explanation;  // "" when certified
  CertifyRequest request;
  Convention asked;  // with the mass of the request, or that which fits best
  double tolerance = 0;
  double residual_asked = 0;             // |b - M x| / |b| in the convention asked for, the largest of all solutions
  std::optional<Convention> convention;  // that the solution is in
  std::vector<double> residuals;         // relative, of each solution, in that convention, or else in the closest one
  double attainable = 0;                 // relative residual that rounding of the stored numbers leaves, about
  WorstSite worst;                       // likewise
  long tried = 0;                        // conventions that the search went through; 0: no search
  std::vector<std::string>
      left_out;                  // actions that were not tried: parts of ranks too short, links without a projection
  std::string solution, source;  // names
  GaugeSummary gauge;
  std::vector<std::string> unverified;  // of files read with no_verify
  bool verified() const { return gauge.verified() && unverified.empty(); }
  Extents lattice{};
  int ranks = 1, threads = 1;
  std::map<std::string, double> seconds;  // read, certify, search
  std::map<std::string, std::string> provenance;
};

std::string to_json(const CertifyReport& report);  // pretty-printed, one trailing newline

}  // namespace staghorn
