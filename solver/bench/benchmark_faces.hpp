// Faces and global sums timed on their own, without the hops that hide them, beside what the link between GPUs carries
// and what the way through the host takes.
#pragma once

#include <cstdint>

#include "dirac/operators/staggered_operator.hpp"

namespace staghorn {

// Seconds of the slowest rank, best of several batches; 0: there is no such figure.
struct FaceRates {
  std::int64_t bytes = 0;  // of all faces that a rank sends in one exchange, as many as it receives
  double exchange = 0;     // faces packed, sent and arrived
  // Where kernels store faces straight into the ghosts of their receivers (p2p):
  double stored = 0;  // by the kernel that does so, alone
  double copied = 0;  // by a plain copy for each face: the same bytes, from contiguous memory to the same places

  // One number for each right-hand side, added exactly over all ranks, once the last kernel has added up this rank's:
  double sum_through_host = 0;  // as loops on the host do it; on a GPU that is two copies and a wait more than MPI
  double sum_by_mpi = 0;        // MPI's part of that
  double sum_in_kernels = 0;    // by p2p, as the loop of CG on the GPU does it, through mailboxes
};

// For faces of `v`, which lies on the parity opposite to `target`; nothing where no faces travel. Spends about
// `seconds` on each figure. Collective.
FaceRates measure_faces(StaggeredOperator& d, const ColorVectorField& v, Parity target, double seconds);

}  // namespace staghorn
