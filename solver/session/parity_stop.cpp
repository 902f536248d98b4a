// Gauge::solve of full systems whose tolerance is on the residual of their even half, as CPS has it:
//
//   b'  = 2m b_e - D b_o                       plain path, fp64, where the fields lie
//   A x_e = b'                                 the certified solve of the even system
//   x_o = (b_o - D x_e) / 2m                   plain path
#include <cmath>
#include <optional>

#include "dirac/fields/plain_algebra.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "solver/request/solve_checks.hpp"
#include "solver/session/gauge.hpp"

namespace staghorn {

SolveReport Gauge::solve_on_parity(const SolveRequest& request, std::span<const VectorField> sources,
                                   std::span<VectorField> solutions, const ShowProgress& progress,
                                   const SolveHabits& habits) {
  const Communicator& all = context_.communicator();
  const MemorySpace space = common_space(sources, solutions);
  const double two_m = 2 * request.mass;
  std::vector<VectorField> even_sources;
  std::optional<VectorField> residual;
  all.agree([&] {
    for (const VectorField& b : sources) even_sources.emplace_back(b.lattice(), space);
    residual.emplace(lattice(), space);
    plain_links(space);
  });
  for (std::size_t i = 0; i < sources.size(); ++i) {
    plain_hop(all, plain_links(space), options_.boundary, even_sources[i], sources[i], Parity::even);
    subtract_from_multiple(even_sources[i], two_m, sources[i], Parity::even);
  }

  SolveRequest even = request;
  even.system = System::even;
  even.stop = StopOn::system;
  SolveReport report = solve(even, even_sources, solutions, progress, habits);
  report.request = request;
  report.system = to_string(request.system);

  for (std::size_t i = 0; i < sources.size(); ++i) {
    VectorField& x = solutions[i];
    plain_hop(all, plain_links(space), options_.boundary, x, x, Parity::odd);
    divide_difference(x, sources[i], two_m, Parity::odd);
    RhsReport& rhs = report.rhs[i];
    rhs.residual_parity = rhs.residual_true;
    const double b2 = staghorn::norm2(all, sources[i]);
    const double r2 = full_residual(all, plain_links(space), options_.boundary, request.mass, x, sources[i], *residual);
    rhs.residual_true = b2 == 0 ? 0 : std::sqrt(r2 / b2);
    const Norms2 x2 = norms2(all, x);
    rhs.norm2 = x2.all;
    rhs.norm2_even = x2.even;
    rhs.norm2_odd = x2.odd;
  }
  return report;
}

}  // namespace staghorn
