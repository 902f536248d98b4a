// The loop as one cooperative kernel for many iterations (cuda_one_kernel.cuh).
#include <algorithm>

#include "halo/cuda/cuda_device.hpp"
#include "halo/transport/transport_p2p.hpp"
#include "solver/krylov/cuda/cuda_binding.cuh"
#include "solver/krylov/cuda/cuda_one_kernel.cuh"

namespace staghorn {

namespace cuda {

namespace {

OneKernel kernel_for(const HopView& view, bool wide) {
  if (view.stencil == Stencil::improved) return improved_one_kernel(view, wide);
  OneKernel kernel = {};
  with_stored_links(view.vectors.precision, view.near.reconstruct, view.near.here,
                    [&]<class Stored, int Reals>(const Stored*, std::integral_constant<int, Reals>) {
                      kernel = one_kernel_of<Stored, LinkReals<Reals>>(view, wide);
                    });
  return kernel;
}

// Collective where there are several ranks.
int least_over_ranks(StaggeredOperator& d, int here) {
  return d.communicator().size() == 1 ? here : -int(d.communicator().max(-double(here)));
}

// The chunks of the rank that has fewest. Collective where slabs are unequal.
int fewest_chunks(StaggeredOperator& d, int here) {
  return all_equal(d.lattice().widths()) ? here : least_over_ranks(d, here);
}

// Blocks for each right-hand side. Blocks wait for each other, so there are no more than the GPU of any rank holds at
// once. Returns 0 if the GPU of a rank has no cooperative launches. Collective.
int most_blocks(StaggeredOperator& d, const OneKernel& kernel) {
  const HopView& view = d.view(Parity::even);
  const int ranks = d.communicator().size();
  int device = 0, cooperative = 0;
  STAGHORN_CUDA_CHECK(cudaGetDevice(&device));
  STAGHORN_CUDA_CHECK(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device));
  const int resident = resident_blocks(kernel.function, kernel.threads);
  const int here = cooperative ? std::min(resident, 32 * (max_blocks_of_cell / ranks)) / view.vectors.n_rhs : 0;
  return least_over_ranks(d, here);
}

}  // namespace

}  // namespace cuda

static_assert(cuda::mail_bytes + sizeof(cuda::RendezvousRing) <= PeerTransport::mailbox_bytes);

namespace {

constexpr int iterations_of_batch = 128;

class OneKernelForm final : public CudaLoopForm {
 public:
  OneKernelForm(const LoopContext& context, bool wide)
      : CudaLoopForm(context), wide_(wide), kernel_(cuda::kernel_for(to_parity(), wide)) {
    StaggeredOperator& d = context.d;
    const int n = to_parity().vectors.n_rhs, ranks = d.communicator().size();
    if (ranks == 1) ring_ = Buffer(sizeof(cuda::RendezvousRing), MemorySpace::cuda);
    for (int rank = 0; rank < ranks; ++rank)
      arguments_.rings[rank] = reinterpret_cast<cuda::RendezvousRing*>(
          ranks == 1 ? ring_.data() : d.peers()->mailbox(rank) + cuda::mail_bytes);
    arguments_.scalars = context.scalars;
    static_assert(iterations_of_batch % cg_refresh_interval == 0);
    arguments_.iterations =
        iterations_of_batch;  // of a batch: a launch takes time, but the kernel ends where the loop does
    const auto chunks = [](const HopView& view, bool reversed) {
      return cuda::chunk_range(cuda::hop_arguments(view).sites, cuda::team_threads, HopPart::all, reversed);
    };
    const cuda::ChunkRange forth = chunks(to_other(), false);
    // The blocks of all ranks are counted together: the rank with the fewest chunks decides.
    blocks_ = std::min(cuda::most_blocks(d, kernel_), cuda::fewest_chunks(d, forth.count)) * n;
    const int teams = blocks_ / n * kernel_.teams();
    arguments_.hop_range = cuda::share_range(forth, teams);
    arguments_.residual_range = cuda::share_range(chunks(to_parity(), true), teams);
    arguments_.direction_range = cuda::share_range(chunks(to_parity(), false), teams);
  }

  LoopForm form() const override { return wide_ ? LoopForm::wide_kernel : LoopForm::one_kernel; }
  bool ends_interval(long) const override { return true; }
  bool makes_next_direction() const override { return false; }  // the next batch begins with it

  // Also empties the sums.
  void begin(const LoopVectors& vectors, double shift) override {
    const CgBinding binding(vectors, shift, context_.scalars, peer_faces(context_.d));
    arguments_.hop = cuda::hop_arguments(to_other(), binding.hop(false));
    arguments_.residual = cuda::hop_arguments(to_parity(), binding.residual(false));
    const int rank = context_.d.communicator().rank();
    STAGHORN_CUDA_CHECK(cudaMemset(arguments_.rings[rank], 0, sizeof(cuda::RendezvousRing)));
    store_first_faces(vectors.p);
    cuda::synchronize();
  }

  void queue(long) override {
    cuda::OneKernelArguments<Stencil::naive> of_naive{arguments_, arguments_.hop, arguments_.residual};
    void* arguments[] = {to_parity().stencil == Stencil::naive ? static_cast<void*>(&of_naive) : &arguments_};
    STAGHORN_CUDA_CHECK(cudaLaunchCooperativeKernel(kernel_.function, dim3(unsigned(blocks_)),
                                                    dim3(unsigned(kernel_.threads)), arguments, 0, context_.stream));
  }

 private:
  bool wide_;
  cuda::OneKernel kernel_;
  cuda::OneKernelArguments<Stencil::improved> arguments_ = {};
  int blocks_ = 0;
  Buffer ring_;  // of a single rank; of several ranks the rings lie in their mailboxes
};

}  // namespace

bool can_be_one_kernel(StaggeredOperator& d, bool wide) {
  const HopView& view = d.view(Parity::even);
  if (!d.host_free()) return false;
  if (d.communicator().size() > 1 && (!d.peers() || !d.peers()->adds_for_all())) return false;
  const cuda::OneKernel kernel = cuda::kernel_for(view, wide);
  const int blocks = cuda::most_blocks(d, kernel);
  const int chunks = cuda::chunk_range(cuda::hop_arguments(view).sites, cuda::team_threads, HopPart::all, false).count;
  const int used = std::min(blocks, cuda::fewest_chunks(d, chunks));
  const bool here = used > 0 && chunks <= used * kernel.teams() * cuda::ThreadSum::few_contributions;
  return all_equal(d.lattice().widths()) ? here : !d.communicator().any(!here);
}

std::unique_ptr<CudaLoopForm> make_one_kernel(const LoopContext& context, bool wide) {
  return std::make_unique<OneKernelForm>(context, wide);
}

}  // namespace staghorn
