// The numbers of a link or a vector as a host stores them, at any alignment. Local.
#pragma once

#include <cstddef>
#include <cstring>

#include "solver/interface/layouts/host_fields.hpp"

namespace staghorn {

// `factor` times the numbers at `place`.
template <class Site, class Real>
Site loaded(const std::byte* place, double factor) {
  constexpr std::size_t n = sizeof(Site) / sizeof(double);
  Real reals[n]{};
  std::memcpy(reals, place, sizeof reals);
  double numbers[n]{};
  for (std::size_t i = 0; i < n; ++i) numbers[i] = factor * double(reals[i]);
  Site site{};
  std::memcpy(&site, numbers, sizeof site);
  return site;
}
template <class Site>
Site load(HostReal real, const std::byte* place, double factor) {
  return real == HostReal::fp64 ? loaded<Site, double>(place, factor) : loaded<Site, float>(place, factor);
}

// Writes `factor` times the numbers of `site` to `place`.
template <class Real, class Site>
void store_as(std::byte* place, const Site& site, double factor) {
  constexpr std::size_t n = sizeof(Site) / sizeof(double);
  double numbers[n]{};
  std::memcpy(numbers, &site, sizeof site);
  Real reals[n]{};
  for (std::size_t i = 0; i < n; ++i) reals[i] = Real(factor * numbers[i]);
  std::memcpy(place, reals, sizeof reals);
}
template <class Site>
void store(HostReal real, std::byte* place, const Site& site, double factor) {
  real == HostReal::fp64 ? store_as<double>(place, site, factor) : store_as<float>(place, site, factor);
}

}  // namespace staghorn
