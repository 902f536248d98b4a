#include "solver/eigen/spectral_range.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dirac/algebra/hermitian_eigen.hpp"
#include "halo/watch/activity.hpp"
#include "solver/eigen/lanczos_basis.hpp"

namespace staghorn {

namespace {

constexpr long least_steps = 64, most_steps = 320, steps_between_looks = 16;
constexpr double good_residual = 1e-6;  // over the eigenvalue, whose error is about the square
constexpr double nothing_left = 1e-10;  // of |K|: the vectors so far hold all that the first one reaches

constexpr std::uint32_t number_of_start = 0xFFFFFFFF;  // of the random vector: no other iteration draws so many

}  // namespace

double SpectralRange::bound_of(double count) const {
  for (std::size_t i = 0; i + 1 < nodes.size(); ++i)
    if (below[i] >= count) return (nodes[i] + nodes[i + 1]) / 2;
  return upper_end();
}

void SpectralRange::visit(const Archive& archive) {
  archive("largest", largest);
  archive("residual", residual);
  archive("calls", calls);
  archive("dimension", dimension);
  archive("nodes", nodes);
  archive("below", below, nodes.size());
}

SpectralRange find_spectral_range(StaggeredOperator& d, Parity parity, std::uint64_t seed, long max_calls) {
  const Activity activity("range of the spectrum");
  SpectralRange range;
  range.dimension = 3 * d.lattice().global_volume() / 2;
  ColorVectorField v = d.make_vector(), before = d.make_vector(), other = d.make_vector();
  const std::size_t n_rhs = std::size_t(v.n_rhs());  // all but the first are zero
  std::vector<ExactSum> hop_sums(n_rhs, ExactSum(1)), sums = hop_sums;
  draw_gaussian(d, v, parity, seed, number_of_start);
  d.combine(0, before, 1 / std::sqrt(d.norm2(v, sums)[0]), v);

  const long steps = std::min<std::int64_t>({most_steps, max_calls, range.dimension});
  std::vector<double> alpha, beta;
  while (long(alpha.size()) < steps) {
    // alpha = (v, K v) = |D v|^2;  w = K v - alpha v - beta v_before, which is -beta times what update_residual leaves
    alpha.push_back(d.hop_and_norm2(other, v, opposite(parity), hop_sums)[0]);
    const double scale = beta.empty() ? 1 : beta.back(), step = 1 / scale;
    const double left =
        std::sqrt(d.update_residual(before, v, other, parity, -alpha.back(), std::vector(n_rhs, step), sums)[0]);
    beta.push_back(scale * left);
    made_progress();
    ++range.calls;
    const long n = long(alpha.size());
    const bool ends = !(beta.back() > nothing_left * alpha[0]) || n == steps;
    if (ends || (n >= least_steps && n % steps_between_looks == 0)) {
      const TridiagonalEnds ritz = tridiagonal_ends(alpha, {beta.begin(), beta.end() - 1});
      range.nodes = ritz.values;
      range.largest = ritz.values.back();
      range.residual = std::fabs(beta.back() * ritz.last.back());
      range.below.clear();
      double sum = 0;
      for (int i = 0; i < int(n); ++i)
        range.below.push_back((sum += ritz.first[std::size_t(i)] * ritz.first[std::size_t(i)]) *
                              double(range.dimension));
      if (ends || range.residual <= good_residual * range.largest) break;
    }
    d.combine(0, v, -1 / left, before);
    std::swap(v, before);
  }
  return range;
}

}  // namespace staghorn
