#include "dirac/kernels/experiments/bit_flips.hpp"
#include "halo/cuda/cuda_check.hpp"
#include "halo/cuda/cuda_slow_down.hpp"
#include "solver/krylov/cuda/cuda_loop_form.hpp"

namespace staghorn {

namespace {

class ExperimentLoop final : public CudaLoopForm {
 public:
  ExperimentLoop(const LoopContext& context, std::unique_ptr<CudaLoopForm> loop)
      : CudaLoopForm(context),
        loop_(std::move(loop)),
        experiment_(context.d.options().experiment),
        start_(cuda::bytes_of_slow_work, MemorySpace::cuda) {}

  LoopForm form() const override { return loop_->form(); }
  void begin(const LoopVectors& vectors, double shift) override {
    vectors_ = vectors;
    loop_->begin(vectors, shift);
  }
  void queue(long batch) override {
    if (experiment_.flips) strike();
    const bool slow = experiment_.slowness > 1;
    if (slow) cuda::begin_slow_work(start_.data(), context_.stream);
    loop_->queue(batch);
    if (slow) cuda::end_slow_work(start_.data(), experiment_.slowness, context_.stream);
  }
  bool ends_interval(long batches) const override { return loop_->ends_interval(batches); }
  bool makes_next_direction() const override { return loop_->makes_next_direction(); }
  void await(cudaEvent_t event) override { loop_->await(event); }
  void end(long long iterations) override { loop_->end(iterations); }

 private:
  void strike() {
    STAGHORN_CUDA_CHECK(cudaStreamSynchronize(context_.stream));
    const VectorShape& shape = to_other().vectors;
    KernelMemory memory{MemorySpace::cuda, packed_links(to_other()), {}, {}};
    memory.vectors = vectors_of(shape, shape.precision, {vectors_.r, vectors_.p, vectors_.tmp});
    for (const auto& x : vectors_of(shape, arithmetic_of(shape.precision), {vectors_.x})) memory.vectors.push_back(x);
    experiment_.flips->strike(memory, context_.d.communicator().rank(), context_.d.communicator().size());
  }

  const std::unique_ptr<CudaLoopForm> loop_;
  const Experiment experiment_;
  Buffer start_;
  LoopVectors vectors_{};
};

}  // namespace

std::unique_ptr<CudaLoopForm> with_experiment(std::unique_ptr<CudaLoopForm> loop, const LoopContext& context) {
  const Experiment& experiment = context.d.options().experiment;
  if (!experiment.flips && experiment.slowness == 1) return loop;
  return std::make_unique<ExperimentLoop>(context, std::move(loop));
}

}  // namespace staghorn
