// Scalars and sums of calls whose scalars are on the host: how they reach the device, and how sums come back.
#pragma once

#include <cstddef>
#include <utility>

#include "dirac/kernels/cuda/cuda_sums.cuh"
#include "dirac/kernels/hop_view.hpp"
#include "dirac/kernels/kernel_calls.hpp"
#include "halo/cuda/cuda_check.hpp"

namespace staghorn::cuda {

// The layout of LaunchContext::scratch and scratch_host.
struct Scratch {
  double alpha[max_rhs], beta[max_rhs], bound[max_rhs], new_weight[max_rhs], old_weight[max_rhs];
  SumCell cells[max_rhs * cells_per_sum];
};

inline Scratch* on_device(const LaunchContext& launch) { return static_cast<Scratch*>(launch.scratch); }
inline Scratch* on_host(const LaunchContext& launch) { return static_cast<Scratch*>(launch.scratch_host); }

// Queues copies of what kernels will read: scalars (nullptr: zeros), grids, empty sums. The copy on the host may be
// changed again after the next collect_sums.
inline void send_scalars(const LaunchContext& launch, int n_rhs, const DeviceScalars& given, const SumGrid* grids) {
  Scratch* host = on_host(launch);
  for (const auto& [to, from] :
       {std::pair{host->alpha, given.alpha}, std::pair{host->beta, given.beta},
        std::pair{host->new_weight, given.new_weight}, std::pair{host->old_weight, given.old_weight}})
    for (int r = 0; r < n_rhs; ++r) to[r] = from ? from[r] : 0;
  for (int r = 0; r < n_rhs; ++r) host->bound[r] = grids[r].bound;
  STAGHORN_CUDA_CHECK(cudaMemcpyAsync(launch.scratch, host, offsetof(Scratch, cells), cudaMemcpyHostToDevice));
  STAGHORN_CUDA_CHECK(cudaMemsetAsync(on_device(launch)->cells, 0, n_rhs * cells_per_sum * sizeof(SumCell)));
}

inline void collect_sums(const LaunchContext& launch, int n_rhs, ExactPartial* sums) {
  const SumCell* cells = on_host(launch)->cells;
  STAGHORN_CUDA_CHECK(cudaMemcpyAsync(on_host(launch)->cells, on_device(launch)->cells,
                                      n_rhs * cells_per_sum * sizeof(SumCell), cudaMemcpyDeviceToHost));
  STAGHORN_CUDA_CHECK(cudaStreamSynchronize(nullptr));
  for (int r = 0; r < n_rhs; ++r)
    for (int c = 0; c < cells_per_sum; ++c) {
      const SumCell& cell = cells[r * cells_per_sum + c];
      sums[r].total += (static_cast<__int128>(cell.high) << 42) + cell.low;
      sums[r].overflow |= cell.overflow != 0;
    }
}

// What kernels use: the scalars that the call gives, or those of the scratch.
inline DeviceScalars scalars_for(const LaunchContext& launch, const DeviceScalars* given) {
  if (given) return *given;
  Scratch* scratch = on_device(launch);
  return {scratch->alpha,      scratch->beta,  scratch->bound, scratch->new_weight,
          scratch->old_weight, scratch->cells, nullptr};
}

}  // namespace staghorn::cuda
