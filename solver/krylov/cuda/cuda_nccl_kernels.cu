// The loop on several GPUs whose faces and sums travel by NCCL, also between hosts. The host only queues.
//
// Each step of cuda_two_kernels.cu is here a hop or an update, a sum over ranks of the integers that its exact sums are
// made of, and a kernel of one block that computes the scalars. The kernel that makes r, p or tmp stores its faces for
// sending as well, and NCCL carries them while the next hop computes the interior.
#include <algorithm>
#include <optional>
#include <string>

#include "halo/cuda/cuda_check.hpp"
#include "halo/transport/face_exchange.hpp"
#include "halo/transport/transport_nccl.hpp"
#include "halo/watchdog.hpp"
#include "solver/krylov/cuda/cuda_binding.cuh"
#include "solver/krylov/cuda/cuda_half_interval.hpp"
#include "solver/krylov/cuda/cuda_last_block.cuh"

namespace staghorn {

namespace {

using cuda::CgStep;

constexpr int finish_threads = 128;

template <CgStep step>
__global__ void __launch_bounds__(finish_threads) finish_kernel(cuda::Scalars* scalars) {
  if (scalars->done) return;
  cuda::finish_step<step>(*scalars);
}

// Blocks that live half as long as the interior takes. NCCL's kernel keeps some blocks from starting; those are then
// dealt to multiprocessors that are free.
constexpr int interior_waves = 2;

class NcclKernels final : public CudaLoopForm {
 public:
  explicit NcclKernels(const LoopContext& context)
      : CudaLoopForm(context),
        faces_(context.d.faces()),
        transport_(*faces_.nccl()),
        to_other_(to_other()),
        to_parity_(to_parity()) {
    for (HopView* view : {&to_other_, &to_parity_}) {
      view->launch.stream = context.stream;
      view->launch.choices.hop.waves = std::max(view->launch.choices.hop.waves, interior_waves);
      view->launch.choices.residual.waves = std::max(view->launch.choices.residual.waves, interior_waves);
    }
  }
  LoopForm form() const override { return LoopForm::nccl; }
  bool ends_interval(long batches) const override { return batches % 2 == 0; }
  bool makes_next_direction() const override { return true; }

  // Also makes NCCL connect for sums.
  void begin(const LoopVectors& vectors, double shift) override {
    const FacePointers from = faces_.incoming(), to = faces_.outgoing();
    binding_.emplace(vectors, shift, context_.scalars, LoopFaces{from, to, from, to});
    STAGHORN_CUDA_CHECK(cudaStreamSynchronize(nullptr));  // p is there
    cuda_kernels().pack_faces(to_other_, vectors.p, to);
    context_.d.communicator().enter();
    sum<cuda::hop_step>();  // of nothing
  }

  // Not in a graph: NCCL is slower there.
  void queue(long batch) override {
    queue_half_interval(
        batch, [&](bool given) { queue_iteration(given); }, [&] { queue_direction(); });
  }

  void await(cudaEvent_t event) override {
    const auto reached = [&] {
      const cudaError_t state = cudaEventQuery(event);
      if (state == cudaErrorNotReady) return false;
      STAGHORN_CUDA_CHECK(state);
      return true;
    };
    const std::string trouble = transport_.nccl().await(reached, patience_seconds());
    if (trouble.empty()) return;
    transport_.nccl().give_up();
    throw Stalled("rank " + std::to_string(context_.d.communicator().rank()) + ": " + trouble);
  }

 private:
  void queue_iteration(bool given) {
    transport_.start_after(context_.stream);
    hop(to_other_, binding_->hop(given));
    sum<cuda::hop_step>();
    transport_.start_after(context_.stream);  // the faces of tmp, while alpha is computed
    finish<cuda::hop_step>();
    hop(to_parity_, binding_->residual(given));
    sum<cuda::residual_step>();
    finish<cuda::residual_step>();
  }

  void queue_direction() {
    cuda_kernels().update_direction(to_parity_, binding_->direction());
    sum<cuda::direction_step>();
    finish<cuda::direction_step>();
  }

  // A hop whose faces have started to travel.
  void hop(HopView& view, HopCall call) {
    const bool overlap = context_.d.options().overlap;
    if (!overlap) transport_.finish_before(context_.stream);
    call.part = HopPart::interior;
    cuda_kernels().hop(view, call);
    if (overlap) transport_.finish_before(context_.stream);
    call.part = HopPart::boundary;
    cuda_kernels().hop(view, call);
  }

  // Adds the cells of all ranks, as integers: high, low, and how many overflowed.
  template <CgStep step>
  void sum() {
    constexpr std::size_t words = 3;
    static_assert(sizeof(cuda::SumCell) == words * sizeof(std::int64_t));
    transport_.nccl().sum(reinterpret_cast<std::int64_t*>(context_.scalars->cells[step]),
                          words * cuda::cells_per_sum * std::size_t(to_other_.vectors.n_rhs), context_.stream);
  }

  template <CgStep step>
  void finish() {
    finish_kernel<step><<<1, finish_threads, 0, context_.stream>>>(context_.scalars);
    STAGHORN_CUDA_CHECK_LAUNCH(finish_kernel);
  }

  FaceExchange& faces_;
  NcclTransport& transport_;
  HopView to_other_, to_parity_;
  std::optional<CgBinding> binding_;
};

}  // namespace

std::unique_ptr<CudaLoopForm> make_nccl_kernels(const LoopContext& context) {
  return std::make_unique<NcclKernels>(context);
}

}  // namespace staghorn
