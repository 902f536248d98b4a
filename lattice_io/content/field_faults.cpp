#include "lattice_io/content/field_faults.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

// The product of a few numbers below it is finite: no link is so large.
constexpr double largest_link = 1e60;

// How many of some links or sites of vectors have NaN, infinity or too large a number, and how many are zero.
struct Faults {
  std::int64_t not_finite = 0, zero = 0;
};

template <class Object>
Faults faults_of(const Communicator& communicator, const Object* objects, std::int64_t n, double largest) {
  constexpr std::int64_t n_reals = sizeof(Object) / sizeof(double);
  std::int64_t not_finite = 0, zero = 0;
#pragma omp parallel for schedule(static) reduction(+ : not_finite, zero)
  for (std::int64_t i = 0; i < n; ++i) {
    const double* const reals = reinterpret_cast<const double*>(objects + i);
    bool finite = true, any = false;
    for (std::int64_t k = 0; k < n_reals; ++k) {
      finite = finite && std::fabs(reals[k]) <= largest;
      any = any || reals[k] != 0;
    }
    not_finite += !finite;
    zero += !any;
  }
  return {communicator.sum(not_finite), communicator.sum(zero)};
}

double largest_in(Precision stored) {
  return stored == Precision::fp32 ? double(std::numeric_limits<float>::max()) : std::numeric_limits<double>::max();
}

}  // namespace

std::string fault_of_links(const Communicator& communicator, const LinkField& links, Precision stored) {
  using Link = Links::value_type;
  const Faults faults = faults_of(communicator, reinterpret_cast<const Link*>(links.data()), 4 * links.size(),
                                  std::min(largest_link, largest_in(stored)));
  const std::string of_all = " of " + std::to_string(4 * links.lattice().global_volume()) + " links ";
  if (faults.not_finite > 0)
    return std::to_string(faults.not_finite) + of_all + "have NaN or infinity among their numbers";
  return faults.zero == 0 ? "" : std::to_string(faults.zero) + of_all + "are zero";
}

std::string fault_of_vectors(const Communicator& communicator, std::span<const VectorField> vectors, Precision stored,
                             bool may_be_zero) {
  for (std::size_t k = 0; k < vectors.size(); ++k) {
    const Faults faults = faults_of(communicator, vectors[k].data(), vectors[k].size(), largest_in(stored));
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
