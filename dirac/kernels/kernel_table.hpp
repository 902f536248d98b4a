// What every backend offers: the kernels as plain function pointers, one table for each instruction set and one for
// CUDA. All tables give the same bits.
//
// Everything here is typed at run time (Precision, Reconstruct, number of right-hand sides); templates stay behind it.
// All calls are local.
#pragma once

#include <cstdint>
#include <string>

#include "dirac/fields/site_layout.hpp"
#include "dirac/kernels/hop_view.hpp"
#include "dirac/kernels/kernel_calls.hpp"
#include "halo/buffer.hpp"

namespace staghorn {

struct KernelTable {
  const char* name;  // "cuda", or one of cpu_kernels()
  MemorySpace space;
  int vector_bytes;  // lanes of a block = vector_bytes / bytes of a real computed with; 0: one block of all sites
  std::int64_t scratch_bytes;  // of LaunchContext
  void (*hop)(const HopView&, const HopCall&);
  void (*update_direction)(const HopView&, const DirectionCall&);
  // GPU, else nullptr: hops only queue their work. Hops with sums are queued between start_sums and finish_sums, which
  // waits and adds to call.sums. pack_faces copies the faces of `v`, of the parity opposite to the view's target.
  void (*start_sums)(const HopView&, const HopCall&);
  void (*finish_sums)(const HopView&, const HopCall&);
  void (*pack_faces)(const HopView&, const void* v, const FacePointers& to);
  // Adds |v|^2 over all blocks to one sum for each right-hand side.
  void (*norm2)(const VectorShape&, const LaunchContext&, const void* v, const SumGrid* grids, ExactPartial* sums);

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

// The CPU table named "auto", "avx512", "avx2", "baseline" (on Arm "sve512", "sve256", "baseline"). auto: that of
// STAGHORN_CPU_KERNELS, else the best that this machine can run. Throws Error naming what the machine has.
const KernelTable& cpu_kernels(const std::string& name = "auto");

// The CUDA kernels. Throws Error if this build has none.
const KernelTable& cuda_kernels();

}  // namespace staghorn
