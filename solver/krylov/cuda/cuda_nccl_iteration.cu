#include <algorithm>

#include "halo/cuda/cuda_check.hpp"
#include "halo/transport/face_exchange.hpp"
#include "halo/watchdog.hpp"
#include "solver/krylov/cuda/cuda_nccl_iteration.cuh"

namespace staghorn {

namespace {

using cuda::direction_phase;
using cuda::hop_phase;
using cuda::residual_phase;
using cuda::SumCell;

constexpr int finish_threads = 128;

template <cuda::Phase phase>
__global__ void __launch_bounds__(finish_threads) finish_kernel(cuda::Scalars* scalars) {
  if (scalars->done) return;
  cuda::finish_phase<phase>(*scalars);
}

// Blocks that live half as long as the interior takes, so that those which NCCL's kernel keeps from starting are dealt
// to whoever is free.
constexpr int interior_waves = 2;

}  // namespace

NcclIteration::NcclIteration(StaggeredOperator& d, Parity parity, const CgPointers& vectors, cuda::Scalars* scalars,
                             double four_m2, cudaStream_t stream)
    : kernels_(cuda_kernels()),
      faces_(d.faces()),
      transport_(*faces_.nccl()),
      to_other_(d.view(opposite(parity))),
      to_parity_(d.view(parity)),
      vectors_(vectors),
      scalars_(scalars),
      four_m2_(four_m2),
      overlap_(d.options().overlap),
      stream_(stream) {
  for (HopView* view : {&to_other_, &to_parity_}) {
    view->launch.stream = stream_;
    view->launch.choices.hop.waves = std::max(view->launch.choices.hop.waves, interior_waves);
    view->launch.choices.residual.waves = std::max(view->launch.choices.residual.waves, interior_waves);
  }
}

DeviceScalars NcclIteration::scalars_of(cuda::Phase phase) const {
  return {scalars_->alpha,          scalars_->beta,         scalars_->bound[phase], scalars_->pending.of_new,
          scalars_->pending.of_old, scalars_->cells[phase], &scalars_->done};
}

void NcclIteration::begin() {
  STAGHORN_CUDA_CHECK(cudaStreamSynchronize(nullptr));  // p is there
  kernels_.pack_faces(to_other_, vectors_.p, faces_.outgoing());
  sum<hop_phase>();  // of nothing
}

void NcclIteration::queue(bool given) {
  DeviceScalars of_hop = scalars_of(hop_phase), of_residual = scalars_of(residual_phase);
  if (given) of_hop.beta = of_residual.beta = nullptr;
  HopCall hop_and_norm;
  hop_and_norm.use = HopUse::store_norm;
  hop_and_norm.in = given ? vectors_.p : vectors_.r;
  hop_and_norm.out = vectors_.tmp;
  hop_and_norm.push = faces_.outgoing();
  hop_and_norm.device = &of_hop;
  transport_.start_after(stream_);
  hop(to_other_, hop_and_norm);
  sum<hop_phase>();
  transport_.start_after(stream_);  // the faces of tmp, while alpha is computed
  finish<hop_phase>();

  HopCall residual;
  residual.use = HopUse::update_residual;
  residual.reversed = true;
  residual.in = vectors_.tmp;
  residual.p = vectors_.p;
  residual.x = vectors_.x;
  residual.out = vectors_.r;
  residual.push = faces_.outgoing();
  residual.four_m2 = four_m2_;
  residual.device = &of_residual;
  hop(to_parity_, residual);
  sum<residual_phase>();
  finish<residual_phase>();
}

void NcclIteration::queue_direction() {
  const DeviceScalars scalars = scalars_of(direction_phase);
  DirectionCall direction;
  direction.p = vectors_.p;
  direction.r = vectors_.r;
  direction.push = faces_.outgoing();
  direction.device = &scalars;
  kernels_.update_direction(to_parity_, direction);
  sum<direction_phase>();
  finish<direction_phase>();
}

// Faces have started.
void NcclIteration::hop(HopView& view, HopCall& call) {
  call.ghost_faces = faces_.incoming();
  if (!overlap_) transport_.finish_before(stream_);
  call.part = HopPart::interior;
  kernels_.hop(view, call);
  if (overlap_) transport_.finish_before(stream_);
  call.part = HopPart::boundary;
  kernels_.hop(view, call);
}

// Cells as integers: high, low, and how many overflowed.
template <cuda::Phase phase>
void NcclIteration::sum() {
  constexpr std::size_t words = 3;
  static_assert(sizeof(SumCell) == words * sizeof(std::int64_t));
  transport_.nccl().sum(reinterpret_cast<std::int64_t*>(scalars_->cells[phase]),
                        words * cuda::cells_per_sum * std::size_t(to_other_.vectors.n_rhs), stream_);
}

template <cuda::Phase phase>
void NcclIteration::finish() {
  finish_kernel<phase><<<1, finish_threads, 0, stream_>>>(scalars_);
  STAGHORN_CUDA_CHECK_LAUNCH(finish_kernel);
}

std::string NcclIteration::await(cudaEvent_t event) {
  const auto reached = [&] {
    const cudaError_t state = cudaEventQuery(event);
    if (state == cudaErrorNotReady) return false;
    STAGHORN_CUDA_CHECK(state);
    return true;
  };
  return transport_.nccl().await(reached, patience_seconds());
}

}  // namespace staghorn
