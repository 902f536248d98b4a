#include "halo/transport/transport_nccl.hpp"

#include <string>
#include <utility>

#include "halo/watch/error.hpp"

namespace staghorn {

NcclTransport::NcclTransport(const Communicator& communicator, std::vector<FaceChannel> channels)
    : nccl_(nccl_communicator(communicator)), channels_(std::move(channels)) {
  communicator.agree([&] {
    int least = 0, greatest = 0;
    STAGHORN_CUDA_CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    STAGHORN_CUDA_CHECK(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest));
  });
}

NcclTransport::~NcclTransport() {
  if (stream_) cudaStreamDestroy(stream_);
}

// NCCL's kernel needs whole multiprocessors, and the one that computes the interior would leave it none before its end.
// So `stream` goes on only when nothing stands before NCCL's kernel any more, which then starts first.
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

void NcclTransport::await(double limit_seconds) {
  const std::string trouble = nccl_.await([this] { return done_.reached(); }, limit_seconds);
  if (trouble.empty()) return;
  nccl_.give_up();
  throw Error(trouble);
}

}  // namespace staghorn
