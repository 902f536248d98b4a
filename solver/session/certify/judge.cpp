#include "solver/session/certify/judge.hpp"

#include <algorithm>
#include <cmath>

#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/fields/plain_algebra.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "solver/session/certify/convention_signs.hpp"
#include "solver/session/certify/few_digits.hpp"

namespace staghorn {

namespace {

// Sums over all sites, or those of one parity, and all solutions: y is D x, or D^2 x of a squared system.
struct FieldSums {
  double xx = 0, yy = 0, xb = 0, yb = 0, bb = 0;
  double hop = 0;  // |D x|^2
};

FieldSums sums_of(const Communicator& communicator, const OperatorLinks& links, const Convention& trial,
                  const JudgedFields& fields) {
  FieldSums sums;
  VectorField hop(links.lattice()), twice(links.lattice());
  for (std::size_t i = 0; i < fields.solutions.size(); ++i) {
    const VectorField x = in_our_signs(trial, fields.solutions[i]), b = in_our_signs(trial, fields.sources[i]);
    plain_hop(communicator, links, trial.boundary, hop, x);
    if (trial.squared) plain_hop(communicator, links, trial.boundary, twice, hop);
    const VectorField& y = trial.squared ? twice : hop;
    sums.xx += norm2(communicator, x);
    sums.bb += norm2(communicator, b);
    sums.hop += norm2(communicator, hop);
    sums.yy += norm2(communicator, y);
    sums.xb += dot(communicator, x, b).re;
    sums.yb += dot(communicator, y, b).re;
  }
  return sums;
}

// A coefficient of a vector of this norm, in as few digits as are good enough.
double short_coefficient(double coefficient, double norm, double allowed) {
  return few_digits(
      coefficient, [&](double rounded) { return std::fabs(rounded - coefficient) * norm; }, allowed);
}

// The mass that was given, half or twice of it, where alpha is then as good; else the mass that fits.
double mass_of(double fitted, std::optional<double> given, const auto& alpha_of, double alpha, double norm,
               double allowed) {
  const auto off = [&](double mass) { return std::fabs(alpha_of(mass) - alpha) * norm; };
  if (given) {
    double best = *given;
    for (const double candidate : {*given / 2, 2 * *given})
      if (off(candidate) < off(best)) best = candidate;
    if (off(best) <= allowed) return best;
  }
  return few_digits(fitted, off, allowed / 16);
}

// b = alpha x + beta D x = factor (2m +- D) x.
void read_full(const FieldSums& sums, std::optional<double> mass, double allowed, Convention& found) {
  const double alpha = sums.xx > 0 ? sums.xb / sums.xx : 0;
  // A vector that D takes to nothing has no factor.
  const bool has_factor = sums.yy > 1e-10 * sums.xx;
  const double beta = has_factor ? short_coefficient(sums.yb / sums.yy, std::sqrt(sums.yy), allowed / 16) : 1;
  found.factor = std::copysign(std::fabs(beta), alpha);
  found.adjoint = (beta < 0) != (alpha < 0);
  const auto alpha_of = [&](double m) { return 2 * m * found.factor; };
  found.mass = mass_of(alpha / (2 * found.factor), mass, alpha_of, alpha, std::sqrt(sums.xx), allowed);
}

// b = alpha x + gamma D^2 x = factor (4m^2 - D^2) x, by least squares: <x, D^2 x> = -|D x|^2. Where x is an eigenvector
// of D^2, factor is 1 or -1. False where 4m^2 is negative.
bool read_squared(const FieldSums& sums, std::optional<double> mass, double allowed, Convention& found) {
  const double determinant = sums.xx * sums.yy - sums.hop * sums.hop;
  double gamma = sums.xb < 0 ? 1 : -1;  // A is positive
  if (determinant > 1e-12 * sums.xx * sums.yy) {
    gamma = (sums.xx * sums.yb + sums.hop * sums.xb) / determinant;
    gamma = short_coefficient(gamma, std::sqrt(sums.yy), allowed / 16);
  }
  const double alpha = sums.xx > 0 ? (sums.xb + gamma * sums.hop) / sums.xx : 0;
  found.factor = -gamma;
  const auto alpha_of = [&](double m) { return 4 * m * m * found.factor; };
  const double square = alpha / (4 * found.factor), norm = std::sqrt(sums.xx);
  if (square < 0 && std::fabs(alpha) * norm > allowed) return false;
  found.mass = mass_of(std::sqrt(std::max(square, 0.0)), mass, alpha_of, alpha, norm, allowed);
  return true;
}

double squared_residual(const Communicator& communicator, const OperatorLinks& links, const Convention& convention,
                        const VectorField& x, const VectorField& b, VectorField& r) {
  const Boundary& boundary = convention.boundary;
  if (!convention.squared) return full_residual(communicator, links, boundary, convention.mass, x, b, r);
  if (convention.parity)
    return parity_residual(communicator, links, boundary, convention.mass, *convention.parity, x, b, r);
  double sum = 0;
  VectorField other(r.lattice());
  for (const Parity parity : {Parity::even, Parity::odd}) {
    sum += parity_residual(communicator, links, boundary, convention.mass, parity, x, b, other);
    clear_parity(other, opposite(parity));
    if (parity == Parity::even) r = other;
  }
  add(r, 1, other);
  return sum;
}

// The site where |r| is largest, the first of several, and |r|^2 there. Sites of `parity` only.
std::pair<Coordinates, double> largest_site(const Communicator& communicator, const VectorField& r,
                                            std::optional<Parity> parity) {
  const Lattice& lattice = r.lattice();
  double largest = -1;
  std::int64_t first = 0;
  for (std::int64_t site = 0; site < r.size(); ++site) {
    const Coordinates x = lattice.to_global(lattice.site_coordinates(site));
    if (parity && Lattice::parity_of(x) != *parity) continue;
    if (const double found = norm2(r[site]); found > largest) {
      largest = found;
      first = lattice.global_site_index(x);
    }
  }
  const double of_all = communicator.max(largest);
  const std::int64_t none = lattice.global_volume();
  const double place = -communicator.max(largest == of_all ? -double(first) : -double(none));
  return {unravel(std::int64_t(place) % none, lattice.global()), of_all};
}

}  // namespace

Judgement judge(const Communicator& communicator, const OperatorLinks& given, const Convention& trial,
                const JudgedFields& fields, std::optional<double> mass, double tolerance, Precision stored) {
  Convention found = trial;
  found.adjoint = false;
  const ReadLinks read(given, trial.links);
  const FieldSums sums = sums_of(communicator, read.links(), found, fields);
  const double allowed = std::min(tolerance, 1e-6) * std::sqrt(sums.bb);
  Judgement none;
  none.convention = found;
  if (!(sums.bb > 0) || !(sums.xx > 0)) return none;
  if (!trial.squared)
    read_full(sums, mass, allowed, found);
  else if (!read_squared(sums, mass, allowed, found))
    return none;
  if (found.factor == 0 || !std::isfinite(found.factor) || !std::isfinite(found.mass)) return none;
  return judge_as_named(communicator, given, found, fields, stored);
}

Judgement judge_as_named(const Communicator& communicator, const OperatorLinks& given, const Convention& convention,
                         const JudgedFields& fields, Precision stored) {
  const ReadLinks read(given, convention.links);
  const OperatorLinks links = read.links();
  Judgement judgement;
  judgement.convention = convention;
  judgement.residual = 0;
  VectorField r(links.lattice());
  const double m2 = 4 * convention.mass * convention.mass;
  // |D v| is about sqrt(8) |v| for a vector v of noise, as rounding is.
  const double size = convention.squared ? m2 + 12 : std::sqrt(m2 + 8);
  const double epsilon = stored == Precision::fp64 ? 0x1p-53 : 0x1p-24;
  for (std::size_t i = 0; i < fields.solutions.size(); ++i) {
    const VectorField x = in_our_signs(convention, fields.solutions[i]);
    VectorField b = in_our_signs(convention, fields.sources[i]);
    if (convention.factor != 1) multiply(b, 1 / convention.factor);
    const double bb = norm2(communicator, b), rr = squared_residual(communicator, links, convention, x, b, r);
    const double relative = std::sqrt(rr / bb), xx = norm2(communicator, x);
    judgement.residuals.push_back(relative);
    judgement.attainable = std::max(judgement.attainable, epsilon * (size * std::sqrt(xx / bb) + 1));
    if (relative <= judgement.residual) continue;
    judgement.residual = relative;
    const auto [site, of_site] = largest_site(communicator, r, convention.parity);
    judgement.worst = {int(i), site, of_site / rr};
  }
  return judgement;
}

}  // namespace staghorn
