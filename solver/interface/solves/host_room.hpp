// Memory that a host gives for vectors whose number the library finds out.
#pragma once

#include <staghorn.h>

#include <vector>

#include "solver/interface/handles.hpp"
#include "solver/interface/struct_layouts.hpp"

namespace staghorn {

// Throws Error unless vectors of this layout may lie one after the other in memory of the host. Local.
void check_room(const staghorn_vectors& layout);

class HostRoom {
 public:
  // Asks for memory of n vectors of a system on `sites`, on every rank. `vectors` outlive it. Throws Error on all of
  // them where there is none on one. Collective.
  HostRoom(const HeldGauge& held, const VectorsArgument& vectors, std::optional<Parity> sites, std::size_t n,
           staghorn_room room, void* data);

  // What the host holds there. Local.
  VectorField read(std::size_t number) const;
  // Local.
  void write(std::size_t number, const VectorField& x);

 private:
  void* at(std::size_t number) const { return first_ + number * bytes_each_; }

  const Lattice& lattice_;
  const VectorsArgument& vectors_;
  std::optional<Parity> sites_;
  std::size_t n_, bytes_each_;
  char* first_ = nullptr;
};

}  // namespace staghorn
