// An iteration of CG on several GPUs whose faces and sums travel by NCCL, also between hosts. The host only queues.
//
// Each phase (cuda_conjugate_gradient.cu) is then a hop or an update, a sum over ranks of the integers
// that its exact sums are made of, and a kernel of one block that computes the scalars. The kernel that makes r, p or
// tmp stores its faces for sending as well, and NCCL carries them while the next hop computes the interior.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "dirac/kernels/kernel_table.hpp"
#include "dirac/operators/staggered_operator.hpp"
#include "halo/transport/transport_nccl.hpp"
#include "solver/krylov/cuda/cuda_scalars.cuh"

namespace staghorn {

// The vectors of CG, on the device.
struct CgPointers {
  void *x, *r, *p, *tmp;
};

class NcclIteration {
 public:
  // For hops of `d` that begin and end on `parity`; d.faces().nccl() is there. Whatever is given stays in use. Local.
  NcclIteration(StaggeredOperator& d, Parity parity, const CgPointers& vectors, cuda::Scalars* scalars, double four_m2,
                cudaStream_t stream);

  // Packs the faces of p, and makes NCCL connect for sums. Collective.
  void begin();
  // Queues an iteration; given: with the direction p that is there. Collective.
  void queue(bool given);
  // Queues p = r + beta p. Collective.
  void queue_direction();
  // Waits for the event, for at most patience_seconds(). Returns what went wrong instead, or nothing. Local.
  std::string await(cudaEvent_t event);
  void give_up() { transport_.nccl().give_up(); }

 private:
  void hop(HopView& view, HopCall& call);
  template <cuda::Phase phase>
  void sum();
  template <cuda::Phase phase>
  void finish();
  DeviceScalars scalars_of(cuda::Phase phase) const;

  const KernelTable& kernels_;
  FaceExchange& faces_;
  NcclTransport& transport_;
  HopView to_other_, to_parity_;
  CgPointers vectors_;
  cuda::Scalars* scalars_;
  double four_m2_;
  bool overlap_;
  cudaStream_t stream_;
};

}  // namespace staghorn
