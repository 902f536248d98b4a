#include <memory>
#include <string>

#include "halo/cuda/cuda_check.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "halo/transport/transport_p2p.hpp"
#include "halo/watchdog.hpp"
#include "solver/bench/cuda_mailbox_sums.hpp"
#include "solver/krylov/cuda/cuda_last_block.cuh"

namespace staghorn::cuda {

namespace {

// As LastBlock has it, fences included. Steps take turns, so that no mailbox is written before it was read.
__global__ void __launch_bounds__(hop_threads) sums_kernel(Scalars* scalars, int rounds) {
  __shared__ double sums[max_rhs];
  Scalars& s = *scalars;
  for (int k = 0; k < rounds; ++k) {
    __threadfence_system();
    take_sums(s, CgStep(k % n_steps), sums);
    __syncthreads();
    if (s.silent_rank >= 0) return;
    if (threadIdx.x == 0) {
      if (k % n_steps == n_steps - 1) ++s.iteration;
      __threadfence_system();
    }
    __syncthreads();
  }
}

}  // namespace

MailboxSums::MailboxSums(StaggeredOperator& d) : d_(d), scalars_(sizeof(Scalars), MemorySpace::cuda) {}

void MailboxSums::run(int rounds) {
  PeerTransport& peers = *d_.peers();
  const auto s = std::make_unique<Scalars>();
  s->n_rhs = d_.options().n_rhs;
  s->n_ranks = d_.communicator().size();
  s->rank = d_.communicator().rank();
  s->silent_rank = -1;
  s->wait_limits = peers.wait_limits();
  s->first_tag = peers.next_tag();
  for (int rank = 0; rank < s->n_ranks; ++rank) s->mailbox[rank] = reinterpret_cast<Mail*>(peers.mailbox(rank));
  for (auto& bounds : s->bound)
    for (double& bound : bounds) bound = 1;
  copy_to_device(scalars_.data(), s.get(), sizeof *s);
  Scalars* scalars = reinterpret_cast<Scalars*>(scalars_.data());
  sums_kernel<<<1, hop_threads>>>(scalars, rounds);
  STAGHORN_CUDA_CHECK_LAUNCH(sums_kernel);
  copy_to_host(s.get(), scalars, sizeof *s);
  if (s->silent_rank >= 0)
    throw Stalled("rank " + std::to_string(s->rank) + " had no answer from rank " + std::to_string(s->silent_rank));
  peers.use_tags(std::uint32_t(rounds / n_steps + 1));
}

}  // namespace staghorn::cuda
