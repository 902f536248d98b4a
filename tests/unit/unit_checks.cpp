// Checks that need no program run: known answers of the random generator, accuracy of the logarithm, exact sums.
//
// `unit_checks` lists the names; `unit_checks NAME` runs one, prints what it measured and exits 0 if it holds.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "dirac/elementary.hpp"
#include "dirac/exact_sum.hpp"
#include "dirac/philox.hpp"
#include "dirac/su2_subgroup.hpp"
#include "dirac/su3_matrix.hpp"
#include "halo/communicator.hpp"

namespace {

using namespace staghorn;

RandomStream test_stream(std::uint64_t site) { return RandomStream(2024, RandomPurpose::hot_start, 0, site); }

// The known answers published with the generator (Random123, kat_vectors: philox4x32 10).
bool philox_gives_the_published_words() {
  struct Answer {
    PhiloxCounter counter;
    PhiloxKey key;
    PhiloxCounter words;
  };
  const Answer answers[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       {0xffffffff, 0xffffffff},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (const Answer& answer : answers)
    if (philox4x32(answer.counter, answer.key) != answer.words) return false;
  return true;
}

// Compared with the C library in extended precision, over ten decades and close to 1.
bool logarithm_is_within_one_unit_in_the_last_place() {
  double worst = 0;
  RandomStream random = test_stream(0);
  for (int i = 0; i < 2000000; ++i) {
    const double u = random.uniform();
    const double x = i % 3 == 0 ? u : i % 3 == 1 ? 1 + (u - 0.5) * 0x1p-6 : std::ldexp(u, i % 61 - 30);
    const long double exact = std::log((long double)x);
    if (exact == 0) continue;
    const double unit = std::nextafter(std::fabs(double(exact)), INFINITY) - std::fabs(double(exact));
    worst = std::max(worst, double(std::fabs(portable_log(x) - exact) / unit));
  }
  std::printf("worst error: %.3f units in the last place\n", worst);
  return worst < 1 && portable_log(1) == 0;
}

// Mean 1/2, variance 1/12; <|z|^2> = 1, <|z|^4> = 2 for the complex Gaussian. Within five standard errors.
bool random_numbers_have_their_moments() {
  const int n = 400000;
  double mean = 0, square = 0, norm2 = 0, norm4 = 0;
  for (int i = 0; i < n; ++i) {
    RandomStream random = test_stream(i);  // first draws of neighbouring streams: must be independent too
    const double u = random.uniform();
    const Complex<double> z = complex_gaussian(random);
    const double z2 = z.re * z.re + z.im * z.im;
    mean += u / n, square += (u - 0.5) * (u - 0.5) / n, norm2 += z2 / n, norm4 += z2 * z2 / n;
  }
  std::printf("uniform: mean %.5f, 12 variance %.5f; Gaussian: |z|^2 %.5f, |z|^4 %.5f\n", mean, 12 * square, norm2,
              norm4);
  const double error = 5 / std::sqrt(double(n));
  return std::fabs(mean - 0.5) < 0.3 * error && std::fabs(12 * square - 1) < 0.9 * error &&
         std::fabs(norm2 - 1) < error && std::fabs(norm4 - 2) < 4.5 * error;
}

// Terms over forty binary orders of magnitude, of both signs, in two orders; and a sum that cancels.
bool exact_sum_does_not_depend_on_the_order() {
  const Communicator communicator(MPI_COMM_SELF);
  std::vector<double> terms;
  RandomStream random = test_stream(1);
  for (int i = 0; i < 100000; ++i) terms.push_back(std::ldexp(random.uniform() - 0.5, i % 40));
  const double sum = exact_sum(communicator, terms);
  std::reverse(terms.begin(), terms.end());
  const bool same = exact_sum(communicator, terms) == sum;
  return same && exact_sum(communicator, std::vector<double>{0x1p53, 1, -0x1p53, 0x1p-30}) == 1 + 0x1p-30;
}

bool exact_sum_reports_what_is_not_a_number() {
  const Communicator communicator(MPI_COMM_SELF);
  return std::isnan(exact_sum(communicator, std::vector<double>{1, NAN, 2})) &&
         std::isnan(exact_sum(communicator, std::vector<double>{1, INFINITY})) &&
         exact_sum(communicator, std::vector<double>{0, 0}) == 0;
}

ColorMatrix<double> random_matrix(RandomStream& random) {
  ColorMatrix<double> m;
  for (auto& row : m.e)
    for (auto& element : row) element = complex_gaussian(random);
  return m;
}

bool projected_matrices_are_in_su3() {
  double worst = 0;
  for (int i = 0; i < 1000; ++i) {
    RandomStream random = test_stream(i);
    ColorMatrix<double> u = random_matrix(random);
    project_su3(u);
    const ColorMatrix<double> product = u * adjoint(u);
    for (int a = 0; a < 3; ++a)
      for (int b = 0; b < 3; ++b)
        worst = std::max(worst, std::hypot(product.e[a][b].re - (a == b), product.e[a][b].im));
    const Complex<double> det = determinant(u);
    worst = std::max(worst, std::hypot(det.re - 1, det.im));
  }
  std::printf("worst deviation: %.2e\n", worst);
  return worst < 1e-13;
}

// <h0> = I2(alpha) / I1(alpha) and no preferred direction; both ways of drawing, within five standard errors.
bool heatbath_draws_have_the_exact_mean() {
  const int n = 200000;
  bool holds = true;
  for (const double alpha : {0.0, 0.2, 0.45, 0.55, 2.0, 10.0, 40.0}) {
    double h0 = 0, h1 = 0, h2 = 0, h3 = 0, length = 0;
    for (int i = 0; i < n; ++i) {
      RandomStream random = test_stream(i);
      const Su2 h = random_su2(alpha, random);
      h0 += h.h[0] / n, h1 += h.h[1] / n, h2 += h.h[2] / n, h3 += h.h[3] / n;
      double norm2 = 0;
      for (const double component : h.h) norm2 += component * component;
      length = std::max(length, std::fabs(norm2 - 1));
    }
    const double exact = alpha > 0 ? std::cyl_bessel_i(2.0, alpha) / std::cyl_bessel_i(1.0, alpha) : 0;
    // 1 - <h0^2> = 3 <h0> / alpha, shared equally by the other three.
    const double rest = alpha > 0 ? exact / alpha : 0.25;
    const double error0 = 5 * std::sqrt((1 - 3 * rest - exact * exact) / n), error = 5 * std::sqrt(rest / n);
    std::printf("alpha %5.2f: <h0> - exact = %+.5f, directions %+.5f %+.5f %+.5f, ||h| - 1| %.1e\n", alpha, h0 - exact,
                h1, h2, h3, length);
    holds = holds && std::fabs(h0 - exact) < error0 && length < 1e-14 &&
            std::max({std::fabs(h1), std::fabs(h2), std::fabs(h3)}) < error;
  }
  return holds;
}

// Multiplying by the two factors of the over-relaxed rotation leaves Re tr(U V^dagger) where it was, but moves U.
bool overrelaxation_keeps_the_action() {
  double worst = 0;
  for (int i = 0; i < 1000; ++i) {
    RandomStream random = test_stream(i);
    ColorMatrix<double> u = random_matrix(random);
    const ColorMatrix<double> path = random_matrix(random);
    project_su3(u);
    const double before = real_trace_adjoint(u, path);
    for (const Subgroup& s : su3_subgroups) {
      double k;
      const Su2 v = project_block(u * adjoint(path), s, k);
      const ColorMatrix<double> old = u;
      multiply_rows(u, s, adjoint(v * v));
      if (real_trace_adjoint(u, old) > 3 - 1e-6) return false;
    }
    worst = std::max(worst, std::fabs(real_trace_adjoint(u, path) - before));
  }
  std::printf("worst change of Re tr(U V^dagger): %.2e\n", worst);
  return worst < 1e-13;
}

}  // namespace

int main(int argc, char** argv) {
  const MpiSession mpi;
  const std::map<std::string, std::function<bool()>> checks = {
      {"philox_gives_the_published_words", philox_gives_the_published_words},
      {"logarithm_is_within_one_unit_in_the_last_place", logarithm_is_within_one_unit_in_the_last_place},
      {"random_numbers_have_their_moments", random_numbers_have_their_moments},
      {"exact_sum_does_not_depend_on_the_order", exact_sum_does_not_depend_on_the_order},
      {"exact_sum_reports_what_is_not_a_number", exact_sum_reports_what_is_not_a_number},
      {"projected_matrices_are_in_su3", projected_matrices_are_in_su3},
      {"heatbath_draws_have_the_exact_mean", heatbath_draws_have_the_exact_mean},
      {"overrelaxation_keeps_the_action", overrelaxation_keeps_the_action},
  };
  if (argc == 2 && checks.count(argv[1])) return checks.at(argv[1])() ? 0 : 1;
  for (const auto& [name, check] : checks) std::printf("%s\n", name.c_str());
  return argc == 1 ? 0 : 2;
}
