#include "solver/session/job/even_half.hpp"

#include <cmath>

#include "dirac/fields/plain_algebra.hpp"
#include "dirac/operators/plain_operator.hpp"

namespace staghorn {

EvenHalf::EvenHalf(Gauge& gauge, const SolveRequest& request, std::span<const VectorField> sources,
                   std::span<const VectorField> solutions)
    : gauge_(gauge), request_(request), given_(sources), even_(request) {
  even_.system = System::even;
  even_.stop = StopOn::system;
  const Communicator& all = gauge.context().communicator();
  const MemorySpace space = common_space(sources, solutions);
  all.agree([&] {
    for (const VectorField& b : sources) sources_.emplace_back(b.lattice(), space);
    residual_.emplace(sources[0].lattice(), space);
    links();
  });
  for (std::size_t i = 0; i < sources.size(); ++i) {
    plain_hop(all, links(), gauge.options().boundary, sources_[i], sources[i], Parity::even);
    subtract_from_multiple(sources_[i], 2 * request.mass, sources[i], Parity::even);
  }
}

void EvenHalf::complete(std::span<VectorField> solutions, SolveReport& report) {
  const Communicator& all = gauge_.context().communicator();
  const Boundary& boundary = gauge_.options().boundary;
  report.request = request_;
  report.system = to_string(request_.system);
  for (std::size_t i = 0; i < solutions.size(); ++i) {
    VectorField& x = solutions[i];
    plain_hop(all, links(), boundary, x, x, Parity::odd);
    divide_difference(x, given_[i], 2 * request_.mass, Parity::odd);
    RhsReport& rhs = report.rhs[i];
    rhs.residual_parity = rhs.residual_true;
    const double b2 = norm2(all, given_[i]);
    const double r2 = full_residual(all, links(), boundary, request_.mass, x, given_[i], *residual_);
    rhs.residual_true = b2 == 0 ? 0 : std::sqrt(r2 / b2);
    const Norms2 x2 = norms2(all, x);
    rhs.norm2 = x2.all;
    rhs.norm2_even = x2.even;
    rhs.norm2_odd = x2.odd;
  }
}

}  // namespace staghorn
