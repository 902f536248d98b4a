// NumPy arrays to fields and back. On one rank the memory of a plain field is that of the array
// (x fastest, colours and (re, im) innermost), so each direction is one copy.
#pragma once

#include <nanobind/ndarray.h>
#include <nanobind/stl/complex.h>

#include <complex>
#include <cstring>
#include <vector>

#include "dirac/site_field.hpp"

namespace staghorn::python {

using ComplexArray = nanobind::ndarray<const std::complex<double>, nanobind::c_contig, nanobind::device::cpu>;
using NumpyArray = nanobind::ndarray<nanobind::numpy, std::complex<double>>;

// X, Y, Z, T of an array whose axes `first`..`first` + 3 are T, Z, Y, X.
inline Extents extents_of(const ComplexArray& array, std::size_t first) {
  return {int(array.shape(first + 3)), int(array.shape(first + 2)), int(array.shape(first + 1)),
          int(array.shape(first))};
}

// The whole lattice on one rank.
inline Lattice whole_lattice(const Extents& extents, const std::array<bool, 4>& loopback = {}) {
  return Lattice(extents, {1, 1, 1, 1}, 0, loopback);
}

// A field from the numbers at `values`, local lexicographic order.
template <class Site>
SiteField<Site> copy_to_field(const Lattice& lattice, const std::complex<double>* values) {
  SiteField<Site> field(lattice);
  std::memcpy(static_cast<void*>(field.data()), values, std::size_t(field.bytes()));
  return field;
}

// An array that owns a copy of `fields` one after another, of shape (T, Z, Y, X, *site_shape), preceded by the number
// of fields if `leading_axis`.
template <class Site>
NumpyArray copy_to_array(const std::vector<const SiteField<Site>*>& fields, const Extents& extents,
                         const std::vector<std::size_t>& site_shape, bool leading_axis) {
  std::vector<std::size_t> shape;
  if (leading_axis) shape.push_back(fields.size());
  for (int mu = 3; mu >= 0; --mu) shape.push_back(std::size_t(extents[mu]));
  shape.insert(shape.end(), site_shape.begin(), site_shape.end());
  constexpr std::size_t numbers_per_site = sizeof(Site) / sizeof(std::complex<double>);
  const std::size_t numbers = std::size_t(volume(extents)) * numbers_per_site;
  auto* values = new std::complex<double>[fields.size() * numbers];
  nanobind::capsule owner(values, [](void* p) noexcept { delete[] static_cast<std::complex<double>*>(p); });
  for (std::size_t i = 0; i < fields.size(); ++i)
    std::memcpy(static_cast<void*>(values + i * numbers), fields[i]->data(), std::size_t(fields[i]->bytes()));
  return NumpyArray(values, shape.size(), shape.data(), owner);
}

}  // namespace staghorn::python
