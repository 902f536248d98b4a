#include "solver/eigen/low_mode_trace.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "dirac/fields/plain_algebra.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "halo/watch/activity.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

double norm2(const Complex<double>& c) { return std::fma(c.re, c.re, c.im * c.im); }

}  // namespace

LowModeTrace::LowModeTrace(const Communicator& communicator, const OperatorLinks& links, const Boundary& boundary,
                           Deflation& pairs)
    : communicator_(communicator), links_(links), boundary_(boundary), pairs_(pairs) {
  const Activity activity("low modes");
  if (pairs.precision() == Precision::fp16)
    throw Error("exact_low_modes", "eigenvectors in fp64 or fp32, beside which noise keeps its digits", "fp16");
  std::optional<VectorField> v;
  communicator.agree([&] { v.emplace(links_.lattice(), links_.near.space()); });
  const Eigenpairs& all = pairs.pairs();
  for (const ColorVectorField& block : all.blocks)
    for (int rhs = 0; rhs < block.n_rhs(); ++rhs) {
      const double lambda = all.values[norms2_.size()];
      block.unpack(all.parity, rhs, *v);
      plain_hop(communicator, links_, boundary_, *v, *v, opposite(all.parity));
      const Norms2 of_both = staghorn::norms2(communicator, *v);
      const bool even = all.parity == Parity::even;
      const double of_v = even ? of_both.even : of_both.odd, of_hop = even ? of_both.odd : of_both.even;
      norms2_.push_back(of_v + (lambda > 0 ? of_hop / lambda : 0));
    }
}

std::vector<double> LowModeTrace::seen(const VectorField& noise) const {
  const Activity activity("low modes");
  std::optional<VectorField> eta;
  communicator_.agree([&] { eta.emplace(noise, links_.near.space()); });
  const std::vector<double>& values = pairs_.pairs().values;
  const Parity parity = pairs_.parity();
  std::vector<double> seen;
  for (const Complex<double>& c : pairs_.components(*eta)) seen.push_back(norm2(c));
  // <w, eta> = <D v, eta> / sqrt(lambda) = -<v, D eta> / sqrt(lambda)
  plain_hop(communicator_, links_, boundary_, *eta, *eta, parity);
  const std::vector<Complex<double>> of_partners = pairs_.components(*eta);
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (values[i] > 0) seen[i] += norm2(of_partners[i]) / values[i];
  return seen;
}

double LowModeTrace::part(double mass, const std::vector<double>& of_pairs) const {
  const std::vector<double>& values = pairs_.pairs().values;
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i) sum += of_pairs[i] / (values[i] + 4 * mass * mass);
  return 2 * mass * sum / double(links_.lattice().global_volume());
}

double LowModeTrace::error(double mass) const {
  const std::vector<double>&values = pairs_.pairs().values, &residuals = pairs_.pairs().residuals;
  const double shift = 4 * mass * mass;
  std::vector<double> errors;
  for (std::size_t i = 0; i < values.size(); ++i)
    errors.push_back(norms2_[i] * residuals[i] / (std::max(values[i] - residuals[i], 0.0) + shift));
  return part(mass, errors);
}

}  // namespace staghorn
