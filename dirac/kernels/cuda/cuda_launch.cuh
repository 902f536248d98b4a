// How many blocks a kernel is launched with.
#pragma once

#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

#include "dirac/kernels/cuda/cuda_sums.cuh"
#include "halo/cuda/cuda_check.hpp"

namespace staghorn::cuda {

// How many blocks of `threads` the selected device holds at once. CUDA is asked once for each kernel and device, since
// its answer takes long and the GPU may be waiting for the host. Any thread may call.
inline int resident_blocks(const void* kernel, int threads, int shared_bytes = 0) {
  static std::mutex mutex;
  static std::map<std::tuple<const void*, int, int>, int> known;
  int device = 0;
  STAGHORN_CUDA_CHECK(cudaGetDevice(&device));
  const std::tuple key(kernel, threads, device);
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  int processors = 0, per_processor = 0;
  STAGHORN_CUDA_CHECK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
  STAGHORN_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, kernel, threads, shared_bytes));
  return known[key] = processors * per_processor;
}

// How many blocks work through `chunks` pieces of one block each: by default one wave, so that the end of a block (its
// sums, its ticket) is amortised; more where a thread would go through more than `most` pieces. (A second wave begins
// in the middle of the walk, far from the others: each wave reads most vectors again.)
template <class Kernel>
int grid_size(Kernel kernel, int threads, int chunks, int waves, int shared_bytes = 0,
              int most = ThreadSum::max_contributions) {
  const int wanted = resident_blocks(reinterpret_cast<const void*>(kernel), threads, shared_bytes) * waves;
  return std::min(chunks, std::max(wanted, (chunks + most - 1) / most));
}

}  // namespace staghorn::cuda
