// Run-time choices into templates: the one place where Precision and Reconstruct become the types of a kernel.
#pragma once

#include <cstdint>
#include <type_traits>

#include "dirac/algebra/precision.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

// Calls work(pointer) with `data` as a pointer to what `precision` stores: double, float or int16.
template <class Work>
void with_stored(Precision precision, const void* data, const Work& work) {
  switch (precision) {
    case Precision::fp64:
      return work(static_cast<const double*>(data));
    case Precision::fp32:
      return work(static_cast<const float*>(data));
    case Precision::fp16:
      return work(static_cast<const std::int16_t*>(data));
  }
}
template <class Work>
void with_stored(Precision precision, void* data, const Work& work) {
  with_stored(precision, static_cast<const void*>(data),
              [&]<class Stored>(const Stored* stored) { work(const_cast<Stored*>(stored)); });
}

// Calls work(pointer, reals): as with_stored, with the reals of a link as a std::integral_constant<int, 18 | 12 | 8>.
template <class Data, class Work>
void with_stored_links(Precision precision, Reconstruct reconstruct, Data* data, const Work& work) {
  with_stored(precision, data, [&](auto* stored) {
    switch (reconstruct) {
      case Reconstruct::none18:
        return work(stored, std::integral_constant<int, 18>());
      case Reconstruct::row12:
        return work(stored, std::integral_constant<int, 12>());
      case Reconstruct::su3_8:
        return work(stored, std::integral_constant<int, 8>());
      case Reconstruct::u3_13:
      case Reconstruct::u3_9:
        throw Error("links", "18, 12 or 8 reals", to_string(reconstruct));
    }
  });
}

// Calls work(reals) for any form of links: std::integral_constant<int, 18 | 12 | 8 | 13 | 9>.
template <class Work>
void with_link_form(Reconstruct reconstruct, const Work& work) {
  switch (reconstruct) {
    case Reconstruct::none18:
      return work(std::integral_constant<int, 18>());
    case Reconstruct::row12:
      return work(std::integral_constant<int, 12>());
    case Reconstruct::su3_8:
      return work(std::integral_constant<int, 8>());
    case Reconstruct::u3_13:
      return work(std::integral_constant<int, 13>());
    case Reconstruct::u3_9:
      return work(std::integral_constant<int, 9>());
  }
}

// Calls work(reals) for a form of Naik links: std::integral_constant<int, 18 | 13 | 9>.
template <class Work>
void with_naik_form(Reconstruct reconstruct, const Work& work) {
  switch (reconstruct) {
    case Reconstruct::none18:
      return work(std::integral_constant<int, 18>());
    case Reconstruct::u3_13:
      return work(std::integral_constant<int, 13>());
    case Reconstruct::u3_9:
      return work(std::integral_constant<int, 9>());
    case Reconstruct::row12:
    case Reconstruct::su3_8:
      throw Error("Naik links", "18, 13 or 9 reals, for they are in U(3)", to_string(reconstruct));
  }
}

}  // namespace staghorn
