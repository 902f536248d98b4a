// The loop of CG as one cooperative kernel: no launches between its phases, and sums that are what all blocks meet for.
// Wide: with the threads of large local lattices (loop_form.hpp); the result is the same.
#pragma once

#include <memory>

#include "dirac/operators/staggered_operator.hpp"
#include "solver/krylov/loop_form.hpp"

namespace staghorn {

// What the loop works on. p is the first direction; afterwards the last that was used.
struct OneKernelVectors {
  void *x, *r, *p, *tmp;
};

class OneKernelLoop {
 public:
  // Whether CG on `d` can be one kernel: on one GPU, or several by p2p that can add to each other's
  // memory; all must take cooperative launches, and there may not be so many sites that sums in a thread would not stay
  // exact. Alike on all ranks. Collective.
  static bool can_run(StaggeredOperator& d, bool wide);

  // For solves on `parity` of d, which must outlive it. Collective.
  OneKernelLoop(StaggeredOperator& d, Parity parity, bool wide);
  ~OneKernelLoop();

  LoopForm form() const;  // one_kernel or wide_kernel

  // Before the first launch of a solve: empties sums, fetches the ghosts of p. Collective.
  void prepare(const OneKernelVectors& v, double four_m2);
  // Queues `iterations` on the stream (cudaStream_t). They end early once `scalars` (of cuda_scalars.cuh, on the
  // device) say that all is done.
  void launch(void* scalars, int iterations, void* stream);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace staghorn
