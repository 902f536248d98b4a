// Places of the eight faces of a local lattice, in the order of FaceExchange.
#pragma once

#include <array>
#include <cstddef>

namespace staghorn {

using FacePointers = std::array<std::byte*, 8>;  // nullptr: there is no such face

}  // namespace staghorn
