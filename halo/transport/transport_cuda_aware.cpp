// Faces between GPUs by an MPI library that takes device pointers, if it says that it does.
#include "halo/transport/transport_table.hpp"
#ifdef STAGHORN_CUDA
#include <mpi.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#include "halo/cuda/cuda_check.hpp"
#include "halo/watch/stopwatch.hpp"
#endif

namespace staghorn {

#ifdef STAGHORN_CUDA
namespace {

// MPI reads and writes device memory itself. It does not know of streams, so the host waits for the packing kernel.
class CudaAwareTransport final : public Transport {
 public:
  explicit CudaAwareTransport(const TransportSetup& setup)
      : mpi_(make_mpi_transport(setup.communicator, setup.channels)) {}
  void start() override {
    STAGHORN_CUDA_CHECK(cudaStreamSynchronize(nullptr));
    departed_ = wall_seconds();
    mpi_->start();
  }
  bool progress() override { return mpi_->progress(); }
  void finish() override {
    mpi_->finish();
    if (timed_) messages_ = {0, wall_seconds() - departed_};
    timed_ = false;
  }
  void time_next_round() override { timed_ = true; }
  Flight timed_round() const override { return {{}, messages_, {}}; }

 private:
  bool timed_ = false;
  double departed_ = 0;
  Interval messages_;
  std::unique_ptr<Transport> mpi_;
};

std::string mpi_obstacle(const Communicator&) {
#if defined(OPEN_MPI) && defined(MPIX_CUDA_AWARE_SUPPORT)
  if (MPIX_Query_cuda_support() == 1) return {};
#endif
  return "this MPI library does not take device pointers";
}

}  // namespace
#endif

extern const TransportKind cuda_aware_transport = {
    .name = "cuda-aware",
    .description = "MPI that takes device pointers",
    .space = MemorySpace::cuda,
    .packed_in = MemorySpace::cuda,
    .by_messages = true,
    .owns_ghosts = false,
    .to_host = {TimedPart::inside_another, "within MPI"},
    .to_device = {TimedPart::inside_another, "within MPI"},
    .messages_note = "",
    .overlap_note = "",
#ifdef STAGHORN_CUDA
    .obstacle = mpi_obstacle,
    .make =
        [](const TransportSetup& setup) {
          return made_on_all(setup.communicator, [&] { return std::make_unique<CudaAwareTransport>(setup); });
        },
#else
    .obstacle = nullptr,
    .make = nullptr,
#endif
};

}  // namespace staghorn
