// The loop as two kernels an iteration, in CUDA graphs, named after the lines of CG that they are:
//
//   hop and norm        tmp = D r + beta tmp;  alpha = |r|^2 / (shift |p|^2 + |tmp|^2)
//   residual update     p = r + beta p;  r -= alpha (shift p - D tmp);  x;  beta = |r_new|^2 / |r|^2;  the stop rule
//
// In one iteration of cg_refresh_interval p is given, and tmp = D p is computed from it (cg_recurrences.hpp). Before
// each such iteration but the first another kernel makes p:
//
//   direction update    p = r + beta p;  |p|^2
//
// The last block of each kernel computes the scalars (LastBlock) once all its sums are complete; after the hops of
// improved quarks a kernel of one block does. When every right-hand
// side is done, kernels return at once, so iterations that were queued ahead cost little and change nothing. Memory
// moved for each iteration and site: two passes over the links and 54 reals of vectors.
#include "halo/cuda/cuda_graph.hpp"
#include "solver/krylov/cuda/cuda_binding.cuh"
#include "solver/krylov/cuda/cuda_half_interval.hpp"
#include "solver/krylov/cuda/cuda_last_block.cuh"

namespace staghorn {

namespace {

using cuda::CgStep;
using cuda::LastBlock;

class TwoKernels final : public CudaLoopForm {
 public:
  explicit TwoKernels(const LoopContext& context)
      : CudaLoopForm(context), several_ranks_(context.d.peers() && context.d.communicator().size() > 1) {}
  LoopForm form() const override { return LoopForm::two_kernels; }
  bool ends_interval(long batches) const override { return batches % 2 == 0; }
  bool makes_next_direction() const override { return true; }

  void begin(const LoopVectors& vectors, double shift) override {
    store_first_faces(vectors.p);
    if (graphs_[0] && vectors == vectors_ && shift == shift_) return;
    vectors_ = vectors;
    shift_ = shift;
    const CgBinding binding(vectors, shift, context_.scalars, peer_faces(context_.d));
    for (int half = 0; half < 2; ++half)
      graphs_[half] = std::make_unique<cuda::RecordedWork>([&](void* stream) {
        queue_half_interval(
            half, [&](bool given) { queue_iteration(binding, given, static_cast<cudaStream_t>(stream)); },
            [&] { queue_direction(binding, static_cast<cudaStream_t>(stream)); });
      });
  }

  void queue(long batch) override { graphs_[batch % 2]->start(context_.stream); }

 private:
  template <CgStep step>
  LastBlock<step> last_block() const {
    return {context_.scalars, several_ranks_};
  }

  void queue_iteration(const CgBinding& binding, bool given, cudaStream_t stream) const {
    cuda::ImprovedArguments hop = cuda::hop_arguments(to_other(), binding.hop(given));
    cuda::ImprovedArguments residual = cuda::hop_arguments(to_parity(), binding.residual(given));
    hop.taken = context_.scalars->taken[cuda::hop_step];
    residual.taken = context_.scalars->taken[cuda::residual_step];
    cuda::launch_hop<HopUse::store_norm>(to_other(), hop, last_block<cuda::hop_step>(), {stream, HopPart::all, false});
    cuda::launch_hop<HopUse::update_residual>(to_parity(), residual, last_block<cuda::residual_step>(),
                                              {stream, HopPart::all, true});
  }

  void queue_direction(const CgBinding& binding, cudaStream_t stream) const {
    cuda::DirectionArguments direction = cuda::direction_arguments(to_parity(), binding.direction());
    direction.taken = context_.scalars->taken[cuda::direction_step];
    cuda::launch_direction(to_parity(), direction, last_block<cuda::direction_step>(), {stream});
  }

  bool several_ranks_;
  std::unique_ptr<cuda::RecordedWork> graphs_[2];  // the halves of cg_refresh_interval
  LoopVectors vectors_{};                          // what the graphs were recorded for
  double shift_ = 0;
};

}  // namespace

std::unique_ptr<CudaLoopForm> make_two_kernels(const LoopContext& context) {
  return std::make_unique<TwoKernels>(context);
}

}  // namespace staghorn
