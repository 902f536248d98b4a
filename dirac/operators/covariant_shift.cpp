#include "dirac/operators/covariant_shift.hpp"

#include <optional>
#include <utility>

#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/fields/plain_algebra.hpp"
#include "dirac/operators/plain_operator.hpp"

namespace staghorn {

namespace {

// out(x) = -U_mu(x)^dagger in(x), as the operator has it
STAGHORN_FMA_CLONES
void multiply_backward(const LinkField& links, const VectorField& in, int mu, std::int64_t begin, std::int64_t end,
                       VectorField& out) {
  for (std::int64_t site = begin; site < end; ++site) adjoint_multiply_subtract(out[site], links[site][mu], in[site]);
}

struct Shift {
  const LinkField& links;
  const NeighbourSites<ColorVector<double>>&ahead, &behind;  // in(x+mu), -U_mu(x-mu)^dagger in(x-mu)
  int mu;
  Complex<double> crossing_phase;  // of a step in +mu that leaves the global lattice
};

// out(x) = (1/2) eta_mu(x) [forward - backward], site by site along x
STAGHORN_FMA_CLONES
void shift_sites(const Shift& shift, std::int64_t begin, std::int64_t end, VectorField& out) {
  const Lattice& lattice = out.lattice();
  const int mu = shift.mu, last = lattice.global()[mu] - 1;
  for (std::int64_t site = begin; site < end; ++site) {
    const Coordinates x = lattice.to_global(lattice.site_coordinates(site));
    ColorVector<double> forward{}, backward = shift.behind[site];
    multiply_add(forward, shift.links[site][mu], shift.ahead[site]);
    const double half = 0.5 * staggered_phase(mu, x);
    for (int i = 0; i < 3; ++i) {
      if (x[mu] == last) forward.c[i] = shift.crossing_phase * forward.c[i];
      if (x[mu] == 0) backward.c[i] = conjugate(shift.crossing_phase) * backward.c[i];
      out[site].c[i] = half * (forward.c[i] - backward.c[i]);
    }
  }
}

// out(x) = U_mu(x) ahead(x)
STAGHORN_FMA_CLONES
void step_forward(const Shift& shift, std::int64_t begin, std::int64_t end, VectorField& out) {
  const Lattice& lattice = out.lattice();
  const int mu = shift.mu, last = lattice.global()[mu] - 1;
  for (std::int64_t site = begin; site < end; ++site) {
    const Coordinates x = lattice.to_global(lattice.site_coordinates(site));
    ColorVector<double> forward{};
    multiply_add(forward, shift.links[site][mu], shift.ahead[site]);
    for (int i = 0; i < 3; ++i) out[site].c[i] = x[mu] == last ? shift.crossing_phase * forward.c[i] : forward.c[i];
  }
}

// out(x) = -behind(x)
STAGHORN_FMA_CLONES
void step_backward(const Shift& shift, std::int64_t begin, std::int64_t end, VectorField& out) {
  const Lattice& lattice = out.lattice();
  for (std::int64_t site = begin; site < end; ++site) {
    const Coordinates x = lattice.to_global(lattice.site_coordinates(site));
    const ColorVector<double> backward = shift.behind[site];
    for (int i = 0; i < 3; ++i) {
      const Complex<double> c = x[shift.mu] == 0 ? conjugate(shift.crossing_phase) * backward.c[i] : backward.c[i];
      out[site].c[i] = {-c.re, -c.im};
    }
  }
}

}  // namespace

VectorField covariant_step(const Communicator& communicator, const LinkField& links, const Boundary& boundary,
                           const VectorField& in, int step) {
  const Lattice& lattice = in.lattice();
  const bool forward = step >= 0;
  const int mu = forward ? step : -1 - step;
  const std::int64_t row = lattice.local()[0];
  VectorField carried(lattice), out(lattice);
#pragma omp parallel for
  for (std::int64_t k = 0; k < (forward ? 0 : n_rows(lattice)); ++k)
    multiply_backward(links, in, mu, k * row, (k + 1) * row, carried);
  const NeighbourSites<ColorVector<double>> from(communicator, forward ? in : carried, mu, forward ? +1 : -1);
  const Shift shift{links, from, from, mu, boundary_phase(boundary.theta[std::size_t(mu)])};
#pragma omp parallel for
  for (std::int64_t k = 0; k < n_rows(lattice); ++k)
    (forward ? step_forward : step_backward)(shift, k * row, (k + 1) * row, out);
  return out;
}

VectorField symmetric_shift(const Communicator& communicator, const LinkField& links, const Boundary& boundary,
                            const VectorField& in, int mu) {
  const Lattice& lattice = in.lattice();
  const std::int64_t row = lattice.local()[0];
  VectorField carried(lattice), out(lattice);
#pragma omp parallel for
  for (std::int64_t k = 0; k < n_rows(lattice); ++k) multiply_backward(links, in, mu, k * row, (k + 1) * row, carried);
  const NeighbourSites<ColorVector<double>> ahead(communicator, in, mu, +1), behind(communicator, carried, mu, -1);
  const Shift shift{links, ahead, behind, mu, boundary_phase(boundary.theta[std::size_t(mu)])};
#pragma omp parallel for
  for (std::int64_t k = 0; k < n_rows(lattice); ++k) shift_sites(shift, k * row, (k + 1) * row, out);
  return out;
}

VectorField transported(const Communicator& communicator, const LinkField& links, const Boundary& boundary,
                        const WeightedPaths& paths, VectorField in) {
  for (int time = 0; time < paths.times; ++time) {
    VectorField sum(in.lattice());
    for (std::size_t i = 0; i < paths.steps.size(); ++i) {
      std::optional<VectorField> moved;
      for (std::size_t k = paths.steps[i].size(); k-- > 0;)
        moved = covariant_step(communicator, links, boundary, moved ? *moved : in, paths.steps[i][k]);
      add(sum, paths.weights[i], moved ? *moved : in);
    }
    in = std::move(sum);
  }
  return in;
}

}  // namespace staghorn
