// The global sums of the loop of CG on GPUs (cuda_scalars.cuh), one after the other and nothing else: to time them.
#pragma once

#include "dirac/operators/staggered_operator.hpp"
#include "halo/buffer.hpp"

namespace staghorn::cuda {

class MailboxSums {
 public:
  // `d` is on GPUs of several ranks, its faces travel by p2p; it must outlive this. Local.
  explicit MailboxSums(StaggeredOperator& d);
  // Sums of one number for each right-hand side, `rounds` times within one kernel; waits for it. Throws Stalled where a
  // rank does not answer. Collective.
  void run(int rounds);

 private:
  StaggeredOperator& d_;
  Buffer scalars_;
};

}  // namespace staghorn::cuda
