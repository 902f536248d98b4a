// Rational functions of -D^2 by multi-shift CG: one solve for all poles, and the sum of its parts.
#include "dirac/fields/plain_algebra.hpp"
#include "halo/watch/error.hpp"
#include "solver/request/option_text.hpp"
#include "solver/session/solve_sources.hpp"

namespace staghorn {

SolveRequest request_of_poles(const SolveRequest& request, const RationalFunction& function,
                              const SessionOptions& options) {
  SolveRequest of_poles = request;
  of_poles.rational.reset();
  of_poles.rational_parts = false;
  of_poles.masses = function.masses();
  const double own = options.quarks.naik_epsilon.value_or(0), epsilon = function.naik_epsilon.value_or(own);
  if (epsilon == own) return of_poles;
  const std::string where = to_string(*request.rational) + ": naik_term_epsilon";
  if (options.quarks.action != Action::hisq || options.quarks.stored())
    throw Error(where, "0, for only HISQ links that are made from thin ones have another", epsilon);
  if (!options.keep_thin_links)
    throw Error(where, "that of the links, " + option_text(own) + ", or links with `keep_thin_links`", epsilon);
  of_poles.naik_epsilons.assign(of_poles.masses.size(), epsilon);
  return of_poles;
}

void sum_poles(SolvedSources& solved, const RationalFunction& function, System system, const SourceSet& sources) {
  const std::size_t n = sources.fields.size();
  for (std::size_t i = 0; i < n; ++i) {
    VectorField sum(sources.fields[i].lattice());
    add(sum, function.constant, sources.fields[i]);
    clear_parity(sum, system == System::even ? Parity::odd : Parity::even);
    for (std::size_t k = 0; k < function.poles.size(); ++k) add(sum, function.residues[k], solved.solutions[k * n + i]);
    solved.solutions[i] = std::move(sum);
  }
  solved.solutions.erase(solved.solutions.begin() + std::ptrdiff_t(n), solved.solutions.end());
}

}  // namespace staghorn
