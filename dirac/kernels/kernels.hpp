// What every backend offers: the kernels as plain function pointers, one table per instruction set and one for CUDA.
// The same bits in all.
//
// Everything here is run-time typed (Precision, Reconstruct, number of right-hand sides); templates stay behind it.
// All calls are local; vectors and links lie in the table's memory space, scalars and sums on the host.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "dirac/algebra/exact_sum.hpp"
#include "dirac/algebra/precision.hpp"
#include "dirac/fields/site_layout.hpp"
#include "dirac/kernels/launch_choice.hpp"
#include "dirac/stencil/neighbour_table.hpp"
#include "halo/buffer.hpp"
#include "halo/transport/face_pointers.hpp"

namespace staghorn {

constexpr int max_rhs = 64;  // in one batch

// What a hop reads besides vectors: neighbours and links of one target parity.
struct HopView {
  Precision precision = Precision::fp64;
  Reconstruct reconstruct = Reconstruct::none18;
  int n_rhs = 1;
  std::int64_t blocks = 0;      // per parity
  int lanes = 0;                // of a block
  int lanes_in_last_block = 0;  // lanes that hold a site in the last block
  const std::int32_t* neighbours = nullptr;
  const SpecialNeighbour* special = nullptr;
  const std::int32_t* special_link = nullptr;
  const void* links_here = nullptr;     // [mu][block][real][lane], sites of the target parity
  const void* links_there = nullptr;    // the same for the opposite parity
  const void* links_special = nullptr;  // [copy][real][lane], links behind where lanes are permuted or remote
  int target = 0;                       // parity of the target sites
  std::array<double, 4> theta{};        // boundary condition, in units of pi
  double phase[8][2] = {};              // e^(+-i pi theta) per hop, for lanes that cross a boundary with such a phase

  // GPU: neighbours by arithmetic instead of a table. Faces are addressed by their bytes from the start of a buffer.
  std::array<int, 4> extents{};            // of the local lattice
  std::array<bool, 4> cut{};               // faces travel
  std::array<bool, 8> at_lattice_edge{};   // per hop: one over the local edge leaves the global lattice
  const std::int32_t* boundary = nullptr;  // sites that need a ghost, in device memory
  int boundary_sites = 0;
  std::array<const void*, 4> ghost_links{};          // links behind the sites x_mu = 0
  void *scratch = nullptr, *scratch_host = nullptr;  // scalars and sums, in device and in pinned memory: scratch_bytes
  void* stream = nullptr;  // the cudaStream_t that hops, direction updates and packing are queued on
  LaunchChoices launches;  // GPU: the result never depends on them
};

enum class HopPart { all, interior, boundary };  // GPU: which sites; the CPU is given lists of blocks

// What is done with D a once it is known. tmp = D a; p, r as in CG; sums per right-hand side.
enum class HopUse {
  store,            // out = tmp
  store_norm,       // out = tmp,              sum |tmp|^2;   with beta out = beta out + tmp
  update_residual,  // out -= alpha (4m^2 p - tmp),  sum |out|^2;   with beta p = r + beta p before, and x grows
};

// For loops on a GPU whose scalars stay there: what kernels read and add to instead of a call's scalars and sums.
struct DeviceScalars {
  const double *alpha = nullptr, *beta = nullptr, *bound = nullptr;  // one per right-hand side
  const double *of_new = nullptr, *of_old = nullptr;                 // the same
  void* cells = nullptr;      // SumCell (cuda_sums.cuh), cells_per_sum of them for each right-hand side
  const int* done = nullptr;  // unless this is zero the kernels return at once; nullptr: never
};

struct HopCall {
  HopUse use = HopUse::store;
  std::span<const std::int32_t> blocks;  // target blocks to compute (CPU)
  HopPart part = HopPart::all;           // (GPU)
  const void* in = nullptr;              // vectors of the opposite parity
  const void* ghost = nullptr;           // their ghosts (CPU)
  FacePointers ghost_faces{};            // (GPU)
  FacePointers push{};                   // where the faces of out go as well (GPU, with sums, on the boundary)
  bool reversed = false;                 // from the last site to the first (GPU)
  void* out = nullptr;
  void* p = nullptr;  // vectors of the target parity
  double four_m2 = 0;
  const double* alpha = nullptr;   // one per right-hand side, as all that follow
  const double* beta = nullptr;    // nullptr: without
  void* x = nullptr;               // x = of_new p + (of_old p_before + x), in fp16 in fp32; nullptr: without
  const double* of_new = nullptr;  // where both are 0, x is not touched
  const double* of_old = nullptr;
  const SumGrid* grids = nullptr;         // one per right-hand side
  ExactPartial* sums = nullptr;           // one per right-hand side, added to
  const DeviceScalars* device = nullptr;  // instead of alpha, grids and sums (GPU)
};

// x += alpha p;  p = r + beta p;  sum |p|^2.   30 reals moved per site, 18 where alpha is 0 or x nullptr: x is not
// touched then. In fp16 x is fp32.
struct DirectionCall {
  void *x = nullptr, *p = nullptr;
  const void* r = nullptr;
  const double *alpha = nullptr, *beta = nullptr;
  const SumGrid* grids = nullptr;
  ExactPartial* sums = nullptr;
  FacePointers push{};                    // as above, of p
  const DeviceScalars* device = nullptr;  // as above; the update is only queued then
};

struct Kernels {
  const char* name;  // "avx512", "avx2", "baseline", "cuda"
  MemorySpace space;
  int vector_bytes;  // lanes of a block = vector_bytes / bytes of a real computed with; 0: one block of all sites
  std::int64_t scratch_bytes;
  void (*hop)(const HopView&, const HopCall&);
  void (*update_direction)(const HopView&, const DirectionCall&);
  // GPU, else nullptr: hops only queue their work. Those with sums are queued between these two, the second of which
  // waits and adds to call.sums; pack_faces copies the faces of `v`, of the parity opposite to the view's target.
  void (*start_sums)(const HopView&, const HopCall&);
  void (*finish_sums)(const HopView&, const HopCall&);
  void (*pack_faces)(const HopView&, const void* v, const FacePointers& to);
  // sum |v|^2 on all blocks, per right-hand side
  void (*norm2)(const HopView&, const void* v, const SumGrid* grids, ExactPartial* sums);

  // b = alpha a + beta b, whatever the layout: n reals each; fp64 or fp32.
  void (*combine)(Precision precision, std::int64_t n, double alpha, const void* a, double beta, void* b);
  // Reads `bytes` (a multiple of 512) and adds the sum of its 64-bit words to *sum, in the table's memory space: how
  // fast memory streams.
  void (*read_stream)(const void* data, std::int64_t bytes, std::int64_t* sum);

  SiteLayout layout(const Lattice& lattice, Precision precision) const {
    const int lanes = vector_bytes / bytes_per_real(arithmetic_of(precision));
    return SiteLayout(lattice, vector_bytes == 0 ? SiteLayout::one_block : lanes);
  }
};

// The best CPU table this machine can run, or the named one ("auto" | "avx512" | "avx2" | "baseline"). Throws Error
// naming what the machine has.
const Kernels& cpu_kernels(const std::string& name = "auto");

// The CUDA kernels. Throws Error if this build has none.
const Kernels& cuda_kernels();

}  // namespace staghorn
