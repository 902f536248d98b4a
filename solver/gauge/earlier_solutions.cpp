#include "solver/gauge/earlier_solutions.hpp"

#include <cmath>
#include <optional>

#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/fields/plain_algebra.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "solver/request/solve_checks.hpp"

namespace staghorn {

namespace {

// What is left of a vector after a projection counts as noise below this share of it.
constexpr double least_share = 1e-10;

STAGHORN_FMA_CLONES
void add_row(ColorVector<double>* a, const Complex<double>& s, const ColorVector<double>* b, int n) {
  for (int k = 0; k < n; ++k)
    for (int c = 0; c < 3; ++c) a[k].c[c] = multiply_add(s, b[k].c[c], a[k].c[c]);
}

// a += s b.
void add(VectorField& a, const Complex<double>& s, const VectorField& b) {
  const int n = a.lattice().local()[0];
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < n_rows(a.lattice()); ++row) add_row(&a[row * n], s, &b[row * n], n);
}

void scale(VectorField& a, double s) {
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < a.size(); ++site)
    for (Complex<double>& number : a[site].c) number = {s * number.re, s * number.im};
}

// The vectors M v as orthonormal ones, and the combinations of v that they come from.
struct Basis {
  std::vector<VectorField> images, origins;
};

}  // namespace

std::vector<int> EarlierSolutions::guess(const Communicator& communicator, const OperatorLinks& links,
                                         const Boundary& boundary, const SolveRequest& request,
                                         std::span<const VectorField> sources, std::span<VectorField> solutions) const {
  std::vector<int> used(solutions.size(), 0);
  const auto found = kept_.find({request.system, request.mass});
  if (found == kept_.end()) return used;
  const std::optional<Parity> parity = sites_of(request.system);
  for (std::size_t i = 0; i < solutions.size() && i < found->second.size(); ++i) {
    if (!is_zero(communicator, solutions[i]) || is_zero(communicator, sources[i])) continue;
    VectorField rest = sources[i];
    if (parity) clear_parity(rest, opposite(*parity));
    Basis basis;
    for (const VectorField& earlier : found->second[i]) {
      const VectorField nothing(earlier.lattice());
      VectorField origin = earlier, image(earlier.lattice());
      // M v = -(0 - M v)
      if (parity)
        parity_residual(communicator, links, boundary, request.mass, *parity, origin, nothing, image);
      else
        full_residual(communicator, links, boundary, request.mass, origin, nothing, image);
      if (parity) clear_parity(image, opposite(*parity));
      scale(image, -1);
      const double before = norm2(communicator, image);
      for (std::size_t k = 0; k < basis.images.size(); ++k) {
        const Complex<double> s = dot(communicator, basis.images[k], image), minus{-s.re, -s.im};
        add(image, minus, basis.images[k]);
        add(origin, minus, basis.origins[k]);
      }
      const double left = norm2(communicator, image);
      if (!(left > least_share * least_share * before)) continue;
      const double by = 1 / std::sqrt(left);
      scale(image, by);
      scale(origin, by);
      const Complex<double> s = dot(communicator, image, rest);
      add(solutions[i], s, origin);
      add(rest, {-s.re, -s.im}, image);
      basis.images.push_back(std::move(image));
      basis.origins.push_back(std::move(origin));
      ++used[i];
    }
  }
  return used;
}

void EarlierSolutions::keep(const SolveRequest& request, std::span<const VectorField> solutions, std::size_t most) {
  std::vector<std::deque<VectorField>>& places = kept_[{request.system, request.mass}];
  if (places.size() < solutions.size()) places.resize(solutions.size());
  for (std::size_t i = 0; i < solutions.size(); ++i) {
    places[i].push_front(solutions[i]);
    while (places[i].size() > most) places[i].pop_back();
  }
}

std::int64_t EarlierSolutions::bytes() const {
  std::int64_t bytes = 0;
  for (const auto& [key, places] : kept_)
    for (const auto& place : places)
      for (const VectorField& field : place) bytes += field.bytes();
  return bytes;
}

}  // namespace staghorn
