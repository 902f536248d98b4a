// NumPy arrays to fields and back. On one rank the memory of a plain field is that of the array
// (x fastest, colours and (re, im) innermost), so fields can be views of arrays, and arrays can have a field's memory.
#pragma once

#include <nanobind/ndarray.h>
#include <nanobind/stl/complex.h>

#include <complex>
#include <initializer_list>
#include <utility>
#include <vector>

#include "dirac/fields/site_field.hpp"

namespace staghorn::python {

using ComplexArray = nanobind::ndarray<const std::complex<double>, nanobind::c_contig, nanobind::device::cpu>;
using NumpyArray = nanobind::ndarray<nanobind::numpy, std::complex<double>>;

// X, Y, Z, T of an array whose axes `first`..`first` + 3 are T, Z, Y, X.
inline Extents extents_of(const ComplexArray& array, std::size_t first) {
  return {int(array.shape(first + 3)), int(array.shape(first + 2)), int(array.shape(first + 1)),
          int(array.shape(first))};
}

// The whole lattice on one rank.
inline Lattice whole_lattice(const Extents& extents) { return Lattice(extents, {1, 1, 1, 1}, 0); }

// `n` fields on the numbers at `values`, one after another: nothing is copied, and values that are const must stay so.
template <class Site>
std::vector<SiteField<Site>> views(const Lattice& lattice, const void* values, std::size_t n) {
  Site* const sites = static_cast<Site*>(const_cast<void*>(values));
  std::vector<SiteField<Site>> fields;
  for (std::size_t i = 0; i < n; ++i)
    fields.push_back(SiteField<Site>::view(lattice, sites + std::int64_t(i) * lattice.local_volume()));
  return fields;
}

inline Buffer copied(const void* values, std::size_t bytes) {
  Buffer copy(bytes);
  copy.copy_from(Buffer::view(static_cast<std::byte*>(const_cast<void*>(values)), bytes));
  return copy;
}

// An array of shape (*leading, T, Z, Y, X, *site_shape) that has `numbers` for its own.
inline NumpyArray to_array(Buffer numbers, std::vector<std::size_t> leading, const Extents& extents,
                           std::initializer_list<std::size_t> site_shape) {
  std::vector<std::size_t> shape = std::move(leading);
  for (int mu = 3; mu >= 0; --mu) shape.push_back(std::size_t(extents[mu]));
  shape.insert(shape.end(), site_shape);
  auto* const kept = new Buffer(std::move(numbers));
  const nanobind::capsule owner(kept, [](void* buffer) noexcept { delete static_cast<Buffer*>(buffer); });
  return NumpyArray(kept->data(), shape.size(), shape.data(), owner);
}

}  // namespace staghorn::python
