#include <algorithm>

#include "halo/cuda_check.hpp"
#include "halo/face_exchange.hpp"
#include "halo/watchdog.hpp"
#include "solver/cuda_nccl_iteration.cuh"

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
    view->stream = stream_;
    view->launches.hop.waves = std::max(view->launches.hop.waves, interior_waves);
    view->launches.residual.waves = std::max(view->launches.residual.waves, interior_waves);
  }
  for (const cuda::Phase phase : {hop_phase, residual_phase, direction_phase})
    device_scalars_[phase] = {phase == direction_phase ? scalars->pending.at_once : scalars->alpha,
                              scalars->beta,
                              scalars->bound[phase],
                              scalars->pending.of_p,
                              scalars->pending.of_r,
                              scalars->cells[phase],
                              &scalars->done};
}

void NcclIteration::begin() {
  STAGHORN_CUDA_CHECK(cudaStreamSynchronize(nullptr));  // p is there
  kernels_.pack_faces(to_other_, vectors_.p, faces_.outgoing());
  sum<hop_phase>();  // of nothing
}

void NcclIteration::queue(bool reversed) {
  HopCall hop_and_norm;  // tmp = D p
  hop_and_norm.use = HopUse::store_norm;
  hop_and_norm.in = vectors_.p;
  hop_and_norm.out = vectors_.tmp;
  hop_and_norm.push = faces_.outgoing();
  hop_and_norm.device = device(hop_phase);
  transport_.start_after(stream_);
  hop(to_other_, hop_and_norm, reversed);
  sum<hop_phase>();
  transport_.start_after(stream_);  // the faces of tmp, while alpha is computed
  finish<hop_phase>();

  HopCall residual;  // r -= alpha (4m^2 p - D tmp)
  residual.use = HopUse::update_residual;
  residual.in = vectors_.tmp;
  residual.p = vectors_.p;
  residual.x = vectors_.x;
  residual.out = vectors_.r;
  residual.four_m2 = four_m2_;
  residual.device = device(residual_phase);
  hop(to_parity_, residual, !reversed);
  sum<residual_phase>();
  finish<residual_phase>();

  DirectionCall direction;  // x += alpha p, where it cannot wait;  p = r + beta p
  direction.x = vectors_.x;
  direction.p = vectors_.p;
  direction.r = vectors_.r;
  direction.push = faces_.outgoing();
  direction.reversed = reversed;
  direction.device = device(direction_phase);
  kernels_.update_direction(to_parity_, direction);
  sum<direction_phase>();
  finish<direction_phase>();
}

// Faces have started.
void NcclIteration::hop(HopView& view, HopCall& call, bool reversed) {
  call.reversed = reversed;
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
                        words * cuda::cells_per_sum * std::size_t(to_other_.n_rhs), stream_);
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
