#include "solver/session/certify/fitted_quarks.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "dirac/fields/plain_algebra.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "solver/session/certify/convention_signs.hpp"
#include "solver/session/certify/few_digits.hpp"

namespace staghorn {

namespace {

constexpr double difference = 0x1p-10;  // of the parameter, for dy/dp
constexpr int most_steps = 12;

using Vector3 = std::array<double, 3>;
using Matrix3 = std::array<Vector3, 3>;

// <v_i, v_j> and <v_i, b> of v = x, y, dy/dp, over all solutions.
struct Normal {
  Matrix3 products{};
  Vector3 of_source{};
  double bb = 0;
};

// The solution of matrix c = right by elimination. The matrix is symmetric and positive.
Vector3 solved(Matrix3 matrix, Vector3 right) {
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t i = k + 1; i < 3; ++i) {
      const double factor = matrix[i][k] / matrix[k][k];
      for (std::size_t j = k; j < 3; ++j) matrix[i][j] -= factor * matrix[k][j];
      right[i] -= factor * right[k];
    }
  for (std::size_t k = 3; k-- > 0;) {
    for (std::size_t j = k + 1; j < 3; ++j) right[k] -= matrix[k][j] * right[j];
    right[k] /= matrix[k][k];
  }
  return right;
}

// Asqtad and HISQ have one each.
double& parameter(QuarkAction& quarks) {
  std::optional<double>& value = quarks.action == Action::hisq ? quarks.naik_epsilon : quarks.u0;
  if (!value) value = quarks.action == Action::hisq ? 0 : 1;
  return *value;
}

bool is_sensible(const QuarkAction& quarks, double value) {
  return quarks.action == Action::hisq ? std::fabs(value) < 1 : value > 0.4 && value < 2;
}

// D x, or D^2 x of a squared system.
VectorField image(const Communicator& communicator, const LinkField& thin, const Convention& convention,
                  const QuarkAction& quarks, const VectorField& x) {
  const ImprovedLinks made = make_improved_links(communicator, thin, quarks);
  const ReadLinks read({made.fat, made.naik, made.naik_weight}, convention.links);
  VectorField hop(thin.lattice());
  plain_hop(communicator, read.links(), convention.boundary, hop, x);
  if (!convention.squared) return hop;
  VectorField twice(thin.lattice());
  plain_hop(communicator, read.links(), convention.boundary, twice, hop);
  return twice;
}

Normal normal_equations(const Communicator& communicator, const LinkField& thin, const Convention& convention,
                        const QuarkAction& quarks, const JudgedFields& fields) {
  QuarkAction moved = quarks;
  parameter(moved) += difference;
  Normal normal;
  for (std::size_t i = 0; i < fields.solutions.size(); ++i) {
    const VectorField b = in_our_signs(convention, fields.sources[i]);
    std::vector<VectorField> v{in_our_signs(convention, fields.solutions[i])};
    v.push_back(image(communicator, thin, convention, quarks, v[0]));
    v.push_back(image(communicator, thin, convention, moved, v[0]));
    add(v[2], -1, v[1]);
    multiply(v[2], 1 / difference);
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t k = 0; k < 3; ++k) normal.products[j][k] += dot(communicator, v[j], v[k]).re;
      normal.of_source[j] += dot(communicator, v[j], b).re;
    }
    normal.bb += norm2(communicator, b);
  }
  return normal;
}

}  // namespace

std::optional<QuarkAction> fitted_quarks(const Communicator& communicator, const LinkField& thin,
                                         const Convention& start, const JudgedFields& fields, double tolerance) {
  Convention convention = start;
  convention.adjoint = false;
  QuarkAction quarks = start.quarks;
  double& value = parameter(quarks);
  double left_before = std::numeric_limits<double>::infinity();
  for (int step = 0; step < most_steps; ++step) {
    const Normal normal = normal_equations(communicator, thin, convention, quarks, fields);
    const auto [alpha, beta, moved] = solved(normal.products, normal.of_source);
    const double next = value + moved / beta, size = std::fabs(beta) * std::sqrt(normal.products[2][2]);
    const double explained = alpha * normal.of_source[0] + beta * normal.of_source[1] + moved * normal.of_source[2];
    const double left = 1 - explained / normal.bb;  // |r|^2 / |b|^2
    if (!is_sensible(quarks, next) || !(left < left_before / 4 || left < 1e-13)) return std::nullopt;
    left_before = left;
    const double allowed = std::min(tolerance, 1e-6) * std::sqrt(normal.bb) / 16;
    const bool stands = std::fabs(next - value) * size <= allowed;
    value = next;
    if (!stands) continue;
    value = few_digits(
        next, [&](double rounded) { return std::fabs(rounded - next) * size; }, allowed);
    return quarks;
  }
  return std::nullopt;
}

}  // namespace staghorn
