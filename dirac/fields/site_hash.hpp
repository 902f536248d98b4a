// A number that tells one field from another, wherever its sites lie.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "dirac/fields/site_field.hpp"
#include "halo/communicator.hpp"

namespace staghorn {

// Returns a sum over sites of a mixture of their bits and their place: the same for every cut and number of threads.
// Every bit of every site counts. The field lies on the host. No cryptography. Collective.
template <class Site>
std::uint64_t site_hash(const Communicator& communicator, const SiteField<Site>& field) {
  const auto mix = [](std::uint64_t word) {
    word ^= word >> 33;
    word *= 0xff51afd7ed558ccdull;
    word ^= word >> 33;
    word *= 0xc4ceb9fe1a85ec53ull;
    return word ^ word >> 33;
  };
  const Lattice& lattice = field.lattice();
  std::uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (std::int64_t site = 0; site < field.size(); ++site) {
    std::uint64_t of_site =
        mix(std::uint64_t(lattice.global_site_index(lattice.to_global(lattice.site_coordinates(site)))));
    double reals[sizeof(Site) / sizeof(double)]{};
    std::memcpy(reals, &field[site], sizeof reals);
    for (const double real : reals) of_site = mix(of_site + std::bit_cast<std::uint64_t>(real));
    sum += of_site;
  }
  return std::uint64_t(communicator.sum(std::int64_t(sum)));
}

}  // namespace staghorn
