// The random generator gives the published words and has the right moments. The logarithm is accurate.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>

#include "dirac/algebra/elementary.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

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
    if (!CHECK(philox4x32(answer.counter, answer.key) == answer.words)) return false;
  return true;
}

// The logarithm is compared with the C library in extended precision, over many decades and close to 1.
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
  return CHECK(worst < 1) && CHECK(portable_log(1) == 0);
}

bool portable_roots_of_unity_are_exact_to_the_last_places() {
  double worst = 0;
  for (int n = 1; n <= 200; ++n)
    for (int k = -2 * n; k <= 2 * n; ++k) {
      const long double angle = 2 * std::numbers::pi_v<long double> * k / n;
      const Complex<double> root = root_of_unity(k, n);
      worst =
          std::max({worst, double(std::fabs(root.re - std::cos(angle))), double(std::fabs(root.im - std::sin(angle)))});
    }
  const Complex<double> quarter = root_of_unity(-5, 4), half = root_of_unity(3, 6);
  return CHECK(worst < 2 * 0x1p-53) && CHECK(quarter.re == 0) && CHECK(quarter.im == -1) && CHECK(half.re == -1) &&
         CHECK(half.im == 0);
}

// Uniform numbers have mean 1/2 and variance 1/12. Complex Gaussian numbers have <|z|^2> = 1 and <|z|^4> = 2. The
// bounds are five standard errors.
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
  return CHECK(std::fabs(mean - 0.5) < 0.3 * error) && CHECK(std::fabs(12 * square - 1) < 0.9 * error) &&
         CHECK(std::fabs(norm2 - 1) < error) && CHECK(std::fabs(norm4 - 2) < 4.5 * error);
}

}  // namespace

std::vector<UnitCheck> random_checks() {
  return {
      UNIT_CHECK(philox_gives_the_published_words),
      UNIT_CHECK(logarithm_is_within_one_unit_in_the_last_place),
      UNIT_CHECK(portable_roots_of_unity_are_exact_to_the_last_places),
      UNIT_CHECK(random_numbers_have_their_moments),
  };
}

}  // namespace staghorn
