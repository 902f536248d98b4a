#include "solver/observables/spin_taste_operator.hpp"

#include <bit>

#include "dirac/algebra/elementary.hpp"
#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/fields/plain_algebra.hpp"
#include "dirac/operators/covariant_shift.hpp"

namespace staghorn {

namespace {

// f(x) *= factor(global coordinates of x)
template <class Factor>
void multiply_sites(VectorField& f, const Factor& factor) {
  const Lattice& lattice = f.lattice();
#pragma omp parallel for
  for (std::int64_t site = 0; site < f.size(); ++site) {
    const auto of_site = factor(lattice.to_global(lattice.site_coordinates(site)));
    for (Complex<double>& c : f[site].c) c = of_site * c;
  }
}

Complex<double> momentum_factor(MomentumPhase phase, int p, int x, int n) {
  const Complex<double> e = root_of_unity(std::int64_t{p} * x, n);
  return phase == MomentumPhase::cosine ? Complex<double>{e.re, 0}
         : phase == MomentumPhase::sine ? Complex<double>{0, e.im}
                                        : e;
}

void multiply_by_momentum(VectorField& f, const std::array<int, 3>& p, const Coordinates& origin) {
  constexpr auto whole = MomentumPhase::exponential;
  const Coordinates& first = f.lattice().origin();
  const auto factors = momentum_factors(f.lattice(), origin, {p, {whole, whole, whole}});
  multiply_sites(f, [&](const Coordinates& x) {
    return factors[0][std::size_t(x[0] - first[0])] *
           (factors[1][std::size_t(x[1] - first[1])] * factors[2][std::size_t(x[2] - first[2])]);
  });
}

}  // namespace

int sign_of(const SpinTaste& spin_taste) {
  const int shifts = std::popcount(unsigned(spin_taste.shifts())), spins = std::popcount(unsigned(spin_taste.spin)),
            both = std::popcount(unsigned(spin_taste.shifts() & spin_taste.spin));
  return (shifts * spins + both) % 2 ? -spin_taste.sign : spin_taste.sign;
}

int sign_at(int spin, int parities) {
  const int eps = std::popcount(unsigned(parities)), zetas = std::popcount(unsigned(spin));
  return (eps * (1 + zetas) + std::popcount(unsigned(spin & parities))) % 2 ? -1 : 1;
}

int parities_of(const Coordinates& x, const Coordinates& origin) {
  int parities = 0;
  for (int mu = 0; mu < 4; ++mu) parities |= ((x[mu] - origin[mu]) & 1) << mu;
  return parities;
}

std::array<std::vector<Complex<double>>, 3> momentum_factors(const Lattice& lattice, const Coordinates& origin,
                                                             const SinkMomentum& momentum) {
  std::array<std::vector<Complex<double>>, 3> factors;
  for (std::size_t i = 0; i < 3; ++i)
    for (int x = 0; x < lattice.local()[i]; ++x)
      factors[i].push_back(
          momentum_factor(momentum.phase[i], momentum.p[i], lattice.origin()[i] + x - origin[i], lattice.global()[i]));
  return factors;
}

VectorField apply_spin_taste(const Communicator& communicator, const MeasuredLinks& links, const Coordinates& origin,
                             const SpinTaste& spin_taste, const VectorField& f) {
  const int set = spin_taste.shifts(), sign = sign_of(spin_taste);
  VectorField out = set ? std::move(spin_taste_shifts(communicator, links, origin, f, std::span(&set, 1)).at(set)) : f;
  multiply_sites(out,
                 [&](const Coordinates& x) { return double(sign * sign_at(spin_taste.spin, parities_of(x, origin))); });
  return out;
}

void apply_source_operator(const Communicator& communicator, const MeasuredLinks& links, const Coordinates& origin,
                           const SourceOperator& applied, VectorField& f) {
  if (applied.momentum) return multiply_by_momentum(f, *applied.momentum, origin);
  if (applied.time_slice)
    return multiply_sites(f, [&](const Coordinates& x) { return x[3] == *applied.time_slice ? 1.0 : 0.0; });
  if (applied.smearing) {
    const auto& [width, steps] = *applied.smearing;
    f = transported(communicator, *links.thin, links.boundary, gaussian_smearing(width, steps), std::move(f));
    return;
  }
  const VectorField in = f;
  for (std::size_t k = 0; k < applied.spin_tastes.size(); ++k) {
    VectorField out = apply_spin_taste(communicator, links, origin, applied.spin_tastes[k], in);
    if (k == 0)
      f = std::move(out);
    else
      add(f, 1, out);
  }
}

}  // namespace staghorn
