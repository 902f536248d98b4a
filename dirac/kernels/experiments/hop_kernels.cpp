#include "dirac/kernels/experiments/hop_kernels.hpp"

#include <numeric>
#include <utility>

#include "dirac/kernels/experiments/bit_flips.hpp"
#include "halo/cuda/cuda_slow_down.hpp"
#include "halo/watch/slow_down.hpp"

namespace staghorn {

namespace {

HopKernels slowed_on_cpu(HopKernels inner, double factor) {
  const auto slowed = [factor](auto kernel) {
    return [factor, kernel = std::move(kernel)](const HopView& view, const auto& call) {
      const SlowDown slow(factor);
      kernel(view, call);
    };
  };
  return {slowed(inner.hop), slowed(inner.update_direction)};
}

HopKernels slowed_on_gpu(HopKernels inner, double factor) {
  const auto start = std::make_shared<Buffer>(cuda::bytes_of_slow_work, MemorySpace::cuda);
  const auto hop = [factor, start, kernel = std::move(inner.hop)](const HopView& view, const HopCall& call) {
    cuda::begin_slow_work(start->data(), nullptr);
    kernel(view, call);
    cuda::end_slow_work(start->data(), factor, nullptr);
  };
  return {hop, std::move(inner.update_direction)};
}

HopKernels struck(HopKernels inner, MemorySpace space, std::shared_ptr<BitFlips> flips, int rank, int n_ranks,
                  const std::array<std::size_t, 8>& face_bytes) {
  const auto hop = [=, kernel = std::move(inner.hop)](const HopView& view, const HopCall& call) {
    KernelMemory memory{space, packed_links(view), {}, {}};
    memory.vectors = vectors_of(view.vectors, view.vectors.precision,
                                {call.in, call.use == HopUse::store ? nullptr : call.out, call.p});
    for (const auto& x : vectors_of(view.vectors, arithmetic_of(view.vectors.precision), {call.x}))
      memory.vectors.push_back(x);
    if (call.ghost) {
      const std::size_t bytes = std::accumulate(face_bytes.begin(), face_bytes.end(), std::size_t(0));
      memory.ghosts.emplace_back(static_cast<std::byte*>(const_cast<void*>(call.ghost)), bytes);
    }
    for (std::size_t face = 0; face < face_bytes.size(); ++face)
      if (call.ghost_faces[face] && face_bytes[face] > 0)
        memory.ghosts.emplace_back(call.ghost_faces[face], face_bytes[face]);
    if (call.use != HopUse::store && call.sums) memory.sums = {call.sums, std::size_t(view.vectors.n_rhs)};
    flips->strike(memory, rank, n_ranks);
    kernel(view, call);
  };
  return {hop, std::move(inner.update_direction)};
}

}  // namespace

HopKernels hop_kernels(const KernelTable& table, const Experiment& experiment, const Communicator& communicator,
                       const std::array<std::size_t, 8>& face_bytes) {
  HopKernels kernels{table.hop, table.update_direction};
  const bool on_gpu = table.space == MemorySpace::cuda;
  if (experiment.slowness > 1)
    kernels = on_gpu ? slowed_on_gpu(kernels, experiment.slowness) : slowed_on_cpu(kernels, experiment.slowness);
  if (experiment.flips)
    kernels = struck(kernels, table.space, experiment.flips, communicator.rank(), communicator.size(), face_bytes);
  return kernels;
}

}  // namespace staghorn
