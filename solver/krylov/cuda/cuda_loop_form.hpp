// The interface of the forms of the loop on GPUs: how iterations get into the queue of a GPU. The driver
// (cuda_conjugate_gradient.cu) knows nothing else of them.
#pragma once

#include <cuda_runtime.h>

#include <memory>

#include "dirac/operators/staggered_operator.hpp"
#include "solver/krylov/loop_form.hpp"

namespace staghorn {

namespace cuda {
struct Scalars;  // cuda_scalars.cuh
}

// The vectors of CG, on the device.
struct LoopVectors {
  void *x, *r, *p, *tmp;
  bool operator==(const LoopVectors&) const = default;
};

// What the iterations of a form work with. All of it must outlive the form.
struct LoopContext {
  StaggeredOperator& d;
  Parity parity;
  cuda::Scalars* scalars;  // on the device
  cudaStream_t stream;     // which iterations are queued on
};

class CudaLoopForm {
 public:
  explicit CudaLoopForm(const LoopContext& context) : context_(context) {}
  virtual ~CudaLoopForm() = default;
  CudaLoopForm(const CudaLoopForm&) = delete;
  virtual LoopForm form() const = 0;

  // Before the first batch of a solve, once p and the scalars are on the device: brings the faces of p to the other
  // ranks, and records what can be recorded. Collective.
  virtual void begin(const LoopVectors& vectors, double shift) = 0;
  // Queues the iterations of batch 0, 1, 2, ... of the solve, with the direction updates between them. Once the scalars
  // say that the loop is done, what is queued changes nothing. Collective.
  virtual void queue(long batch) = 0;
  // Whether so many batches, if nothing ended them early, end an interval between given directions. Local.
  virtual bool ends_interval(long batches) const = 0;
  // Whether the last batch of an interval makes the direction that follows. Local.
  virtual bool makes_next_direction() const = 0;
  // Waits until the GPU has come to `event`. Throws Stalled if another rank keeps it from coming there. Local.
  virtual void await(cudaEvent_t event);
  // After the last batch, when so many iterations have ended. Collective.
  virtual void end(long long iterations);

 protected:
  // Where kernels store faces straight into the ghosts of other ranks: brings the faces of p to the ghosts of r.
  // Collective.
  void store_first_faces(const void* p);

  const HopView& to_other() const { return context_.d.view(opposite(context_.parity)); }
  const HopView& to_parity() const { return context_.d.view(context_.parity); }

  const LoopContext context_;
};

std::unique_ptr<CudaLoopForm> make_two_kernels(const LoopContext& context);

// wide: with the threads for many sites (loop_form.hpp). Collective.
std::unique_ptr<CudaLoopForm> make_one_kernel(const LoopContext& context, bool wide);
// Whether CG on `d` can be one kernel: on one GPU, or on several GPUs by p2p that can add to each other's memory. All
// of them must take cooperative launches, and there may not be so many sites that the sums in a thread would not stay
// exact. The same on all ranks. Collective.
bool can_be_one_kernel(StaggeredOperator& d, bool wide);

// For operators whose d.faces().nccl() is there.
std::unique_ptr<CudaLoopForm> make_nccl_kernels(const LoopContext& context);

// The loop, or around it what the experiment of the operator asks (dirac/kernels/experiments): the GPU waits behind
// each batch, and bits change between two batches, each of which counts as one call.
std::unique_ptr<CudaLoopForm> with_experiment(std::unique_ptr<CudaLoopForm> loop, const LoopContext& context);

}  // namespace staghorn
