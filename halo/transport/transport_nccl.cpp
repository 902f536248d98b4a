#include "halo/transport/transport_table.hpp"
#ifdef STAGHORN_CUDA
#include <string>
#include <utility>

#include "halo/transport/transport_nccl.hpp"
#include "halo/watchdog.hpp"
#endif

namespace staghorn {

#ifdef STAGHORN_CUDA

NcclTransport::NcclTransport(const Communicator& communicator, std::vector<FaceChannel> channels)
    : communicator_(communicator), nccl_(nccl_communicator(communicator)), channels_(std::move(channels)) {
  communicator.agree([&] {
    int least = 0, greatest = 0;
    STAGHORN_CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    STAGHORN_CUDA_CHECK(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest));
  });
  communicator.enter();  // from here to the end of the exchange no rank may fail alone
  nccl_.exchange(channels_, stream_);
  done_.record(stream_);
  finish();
}

NcclTransport::~NcclTransport() {
  if (stream_) cudaStreamDestroy(stream_);
}

// NCCL's kernel needs whole multiprocessors. The kernel that computes the interior leaves none free before its end. So
// `stream` goes on only when nothing holds NCCL's kernel back any more; then NCCL's kernel starts first.
void NcclTransport::start_after(cudaStream_t stream) {
  packed_.record(stream);
  packed_.hold(stream_);
  if (timed_) packed_mark_.set(stream_);
  underway_.record(stream_);
  nccl_.exchange(channels_, stream_);
  if (timed_) done_mark_.set(stream_);
  timed_ = false;
  done_.record(stream_);
  underway_.hold(stream);
}

void NcclTransport::finish_before(cudaStream_t stream) { done_.hold(stream); }

void NcclTransport::finish() {
  finish_before(nullptr);
  if (communicator_.alarm()) await(patience_seconds());
}

void NcclTransport::await(double limit_seconds) {
  const std::string trouble = nccl_.await([this] { return done_.reached(); }, limit_seconds);
  if (trouble.empty()) return;
  nccl_.give_up();
  throw Stalled(trouble);
}
#endif

extern const TransportKind nccl_transport = {
    .name = "nccl",
    .description = "NCCL messages; one host or several, a GPU for each rank",
    .space = MemorySpace::cuda,
    .packed_in = MemorySpace::cuda,
    .by_messages = false,
    .owns_ghosts = false,
    .to_host = {TimedPart::none, "faces stay in GPU memory"},
    .to_device = {TimedPart::none, "faces stay in GPU memory"},
    .messages_note = "by NCCL, on the device's clock",
    .overlap_note = "by NCCL, on the device's clock",
#ifdef STAGHORN_CUDA
    .obstacle = nccl_obstacle,
    .make = [](const TransportSetup& s) -> std::unique_ptr<Transport> {
      return std::make_unique<NcclTransport>(s.communicator, s.channels);
    },
#else
    .obstacle = nullptr,
    .make = nullptr,
#endif
};

}  // namespace staghorn
