// Rational functions of -D^2 by multi-shift CG: one solve for all poles, and the sum of its parts.
#include "dirac/fields/plain_algebra.hpp"
#include "solver/request/solve_checks.hpp"
#include "solver/session/solve_sources.hpp"

namespace staghorn {

SolvedSources solve_rational(Session& session, const SolveRequest& request, const SourceSet& sources,
                             const std::function<void(const CgProgress&)>& progress) {
  check_request(request, session.options().precision);
  const RationalFunction function = read_rational(session.communicator(), *request.rational);
  SolveRequest of_poles = request;
  of_poles.rational.reset();
  of_poles.rational_parts = false;
  of_poles.masses = function.masses();
  SolvedSources solved = solve_sources(session, of_poles, sources, {}, progress);
  solved.report.rational = function;
  solved.report.request.rational = request.rational;
  solved.report.request.rational_parts = request.rational_parts;
  if (request.rational_parts) return solved;
  const std::size_t n = sources.fields.size();
  for (std::size_t i = 0; i < n; ++i) {
    VectorField sum(session.lattice());
    add(sum, function.constant, sources.fields[i]);
    clear_parity(sum, request.system == System::even ? Parity::odd : Parity::even);
    for (std::size_t k = 0; k < function.poles.size(); ++k) add(sum, function.residues[k], solved.solutions[k * n + i]);
    solved.solutions[i] = std::move(sum);
  }
  solved.solutions.erase(solved.solutions.begin() + std::ptrdiff_t(n), solved.solutions.end());
  return solved;
}

}  // namespace staghorn
