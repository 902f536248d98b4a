#include "dirac/kernels/kernel_table.hpp"
#include "halo/cuda/cuda_check.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "halo/transport/transport_p2p.hpp"
#include "solver/krylov/cuda/cuda_binding.cuh"

namespace staghorn {

void CudaLoopForm::await(cudaEvent_t event) { STAGHORN_CUDA_CHECK(cudaEventSynchronize(event)); }

void CudaLoopForm::end(long long iterations) {
  StaggeredOperator& d = context_.d;
  if (!d.peers() || d.communicator().size() == 1) return;
  d.peers()->use_tags(std::uint32_t(iterations) + 1);
  d.communicator().barrier();
}

void CudaLoopForm::store_first_faces(const void* p) {
  if (!context_.d.peers()) return;
  cuda_kernels().pack_faces(to_other(), p, peer_faces(context_.d).r_to);
  cuda::synchronize();
  context_.d.communicator().barrier();
}

}  // namespace staghorn
