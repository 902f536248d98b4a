// An iteration of CG on several GPUs whose faces and sums travel by NCCL, also between hosts. The host only queues.
//
// Each of the three phases (cuda_conjugate_gradient.cu) is then a hop or an update, a sum over ranks of the integers
// that its exact sums are made of, and a kernel of one block that computes the scalars. The kernel that makes p or tmp
// stores its faces for sending as well, and NCCL carries them while the next hop computes the interior.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <string>

#include "dirac/kernels.hpp"
#include "dirac/staggered_operator.hpp"
#include "halo/transport_nccl.hpp"
#include "solver/cuda_scalars.cuh"

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
  // Queues an iteration; reversed: kernels walk the lattice the other way. Collective.
  void queue(bool reversed);
  // Waits for the event, for at most patience_seconds(). Returns what went wrong instead, or nothing. Local.
  std::string await(cudaEvent_t event);
  void give_up() { transport_.nccl().give_up(); }

 private:
  void hop(HopView& view, HopCall& call, bool reversed);
  template <cuda::Phase phase>
  void sum();
  template <cuda::Phase phase>
  void finish();
  const DeviceScalars* device(cuda::Phase phase) const { return &device_scalars_[phase]; }

  const Kernels& kernels_;
  FaceExchange& faces_;
  NcclTransport& transport_;
  HopView to_other_, to_parity_;
  CgPointers vectors_;
  cuda::Scalars* scalars_;
  std::array<DeviceScalars, cuda::n_phases> device_scalars_;
  double four_m2_;
  bool overlap_;
  cudaStream_t stream_;
};

}  // namespace staghorn
