#include "lattice_io/content/field_faults.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

// Thin links have numbers up to 1, fat and Naik links a few times that or less: what is far from it is damage.
constexpr double largest_link = 1e10, smallest_link = 1e-10;

// How many of some links or sites of vectors have NaN or what the precision stored cannot hold, how many have finite
// numbers above a limit, how many are zero, and how many are not, but have numbers below a limit only.
struct Faults {
  std::int64_t not_finite = 0, large = 0, zero = 0, small = 0;
};

template <class Object>
Faults faults_of(const Communicator& communicator, const Object* objects, std::int64_t n, double largest_stored,
                 double largest, double smallest) {
  constexpr std::int64_t n_reals = sizeof(Object) / sizeof(double);
  std::int64_t not_finite = 0, large = 0, zero = 0, small = 0;
#pragma omp parallel for schedule(static) reduction(+ : not_finite, large, zero, small)
  for (std::int64_t i = 0; i < n; ++i) {
    const double* const reals = reinterpret_cast<const double*>(objects + i);
    bool finite = true;
    double most = 0;
    for (std::int64_t k = 0; k < n_reals; ++k) {
      finite = finite && std::fabs(reals[k]) <= largest_stored;
      most = std::max(most, std::fabs(reals[k]));
    }
    not_finite += !finite;
    large += finite && most > largest;
    zero += finite && most == 0;
    small += finite && most > 0 && most < smallest;
  }
  return {communicator.sum(not_finite), communicator.sum(large), communicator.sum(zero), communicator.sum(small)};
}

double largest_in(Precision stored) {
  return stored == Precision::fp32 ? double(std::numeric_limits<float>::max()) : std::numeric_limits<double>::max();
}

}  // namespace

std::string fault_of_links(const Communicator& communicator, const LinkField& links, Precision stored) {
  using Link = Links::value_type;
  const Faults faults = faults_of(communicator, reinterpret_cast<const Link*>(links.data()), 4 * links.size(),
                                  largest_in(stored), largest_link, smallest_link);
  const std::string of_all = " of " + std::to_string(4 * links.lattice().global_volume()) + " links ";
  for (const auto& [n, words] : {std::pair{faults.not_finite, "have NaN or infinity among their numbers"},
                                 std::pair{faults.large, "have numbers above 1e10"}, std::pair{faults.zero, "are zero"},
                                 std::pair{faults.small, "have numbers below 1e-10 only"}})
    if (n > 0) return std::to_string(n) + of_all + words;
  return "";
}

std::string fault_of_vectors(const Communicator& communicator, std::span<const VectorField> vectors, Precision stored,
                             bool may_be_zero) {
  for (std::size_t k = 0; k < vectors.size(); ++k) {
    const Faults faults =
        faults_of(communicator, vectors[k].data(), vectors[k].size(), largest_in(stored), largest_in(stored), 0);
    const std::string name = "vector " + std::to_string(k);
    if (faults.not_finite > 0)
      return name + " has NaN or infinity among its numbers at " + std::to_string(faults.not_finite) + " sites";
    if (!may_be_zero && faults.zero == vectors[k].lattice().global_volume()) return name + " is zero at every site";
  }
  return "";
}

void require_no_fault(const std::string& path, const std::string& fault) {
  if (!fault.empty()) throw FileError(path, "numbers that are finite, and not all zero", fault);
}

}  // namespace staghorn
