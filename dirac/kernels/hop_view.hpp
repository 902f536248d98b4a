// What a hop reads besides vectors: neighbours and links of one target parity. Plain pointers and numbers; the owner is
// the operator (dirac/operators/).
#pragma once

#include <array>
#include <cstdint>

#include "dirac/algebra/precision.hpp"
#include "dirac/fields/vector_shape.hpp"
#include "dirac/kernels/launch_choice.hpp"
#include "dirac/stencil/legs.hpp"
#include "dirac/stencil/neighbour_table.hpp"

namespace staghorn {

// CPU: the neighbours of every block, from a table (NeighbourTable).
struct Neighbourhood {
  const std::int32_t* neighbours = nullptr;
  const SpecialNeighbour* special = nullptr;
  const std::int32_t* special_link = nullptr;
};

// One set of links (LinkSet), for one target parity.
struct LinkSetView {
  Reconstruct reconstruct = Reconstruct::none18;
  double scale = 1;                     // what multiplies every link, where links are stored without it
  const void* here = nullptr;           // [mu][block][real][lane], sites of the target parity
  const void* there = nullptr;          // the same for the opposite parity
  const void* special = nullptr;        // CPU: [copy][real][lane], links behind that are permuted or remote
  std::array<const void*, 4> ghosts{};  // GPU: links behind the sites of the first slices, in the order of faces
};

// GPU: the local lattice. Kernels find neighbours by arithmetic and address faces by their bytes in a buffer.
struct DeviceGeometry {
  std::array<int, 4> extents{};            // of the local lattice
  std::array<bool, 4> cut{};               // faces travel in this direction
  int depth = 1;                           // slices of a face (FaceSites)
  std::array<bool, 8> at_lattice_edge{};   // for each hop: a hop over the local edge leaves the global lattice
  std::array<double, 4> theta{};           // boundary condition, in units of pi
  const std::int32_t* boundary = nullptr;  // sites that need a ghost, in device memory
  int boundary_sites = 0;
};

// GPU: where kernels are queued, and with which launches. No result depends on it.
struct LaunchContext {
  void *scratch = nullptr, *scratch_host = nullptr;  // scalars and sums, in device and in pinned memory: scratch_bytes
  void* stream = nullptr;  // the cudaStream_t on which hops, direction updates and packing are queued
  LaunchChoices choices;
};

struct HopView {
  VectorShape vectors;
  Stencil stencil = Stencil::naive;
  LinkSetView near, naik;   // thin or fat links; for improved quarks also Naik links
  int target = 0;           // parity of the target sites
  double phase[8][2] = {};  // e^(+-i pi theta) for hops 2 mu + (0 forward, 1 backward) across a boundary with a phase
  Neighbourhood neighbourhood;
  DeviceGeometry geometry;
  LaunchContext launch;
};

}  // namespace staghorn
