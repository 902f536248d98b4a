#include <mpi.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#include <climits>
#include <string>
#include <utility>

#include "halo/buffer.hpp"
#include "halo/cuda_check.hpp"
#include "halo/transport.hpp"

namespace staghorn {

namespace {

class Event {
 public:
  Event() { STAGHORN_CUDA_CHECK(cudaEventCreateWithFlags(&handle_, cudaEventDisableTiming)); }
  ~Event() {
    if (handle_) cudaEventDestroy(handle_);
  }
  Event(Event&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  void record(cudaStream_t stream) { STAGHORN_CUDA_CHECK(cudaEventRecord(handle_, stream)); }
  void hold(cudaStream_t stream) const { STAGHORN_CUDA_CHECK(cudaStreamWaitEvent(stream, handle_, 0)); }
  bool reached() const {
    const cudaError_t state = cudaEventQuery(handle_);
    if (state == cudaErrorNotReady) return false;
    STAGHORN_CUDA_CHECK(state);
    return true;
  }

 private:
  cudaEvent_t handle_ = nullptr;
};

// One face on its way: GPU -> pinned memory -> MPI -> pinned memory -> GPU.
class StagedFace {
 public:
  StagedFace(const Communicator& communicator, const FaceChannel& channel, bool send_is_pinned)
      : channel_(channel),
        send_(send_is_pinned ? 0 : channel.bytes, MemorySpace::pinned),
        receive_(channel.bytes, MemorySpace::pinned) {
    if (channel.bytes > INT_MAX)
      throw Error("face message", "less than 2 GiB", std::to_string(channel.bytes) + " bytes");
    STAGHORN_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    const int bytes = int(channel.bytes);
    check_mpi(MPI_Recv_init(receive_.data(), bytes, MPI_BYTE, channel.receive_from, channel.tag, communicator.handle(),
                            &arrival_),
              "MPI_Recv_init");
    check_mpi(MPI_Send_init(send_is_pinned ? channel.send : send_.data(), bytes, MPI_BYTE, channel.send_to, channel.tag,
                            communicator.handle(), &departure_),
              "MPI_Send_init");
  }
  ~StagedFace() {
    int finalised = 0;
    MPI_Finalized(&finalised);
    if (!finalised) {
      MPI_Request_free(&arrival_);
      MPI_Request_free(&departure_);
    }
    cudaStreamDestroy(stream_);
  }
  StagedFace(const StagedFace&) = delete;

  void start(const Event& packed) {
    packed.hold(stream_);
    if (send_.bytes() > 0)
      STAGHORN_CUDA_CHECK(
          cudaMemcpyAsync(send_.data(), channel_.send, channel_.bytes, cudaMemcpyDeviceToHost, stream_));
    on_host_.record(stream_);
    expected_ = sent_ = arrived_ = left_ = false;
  }
  // True once nothing is left to do for the host.
  bool progress() {
    if (!expected_ && on_device_.reached()) {  // the last face has left the buffer that the next will fill
      check_mpi(MPI_Start(&arrival_), "MPI_Start");
      expected_ = true;
    }
    if (!sent_ && on_host_.reached()) {
      check_mpi(MPI_Start(&departure_), "MPI_Start");
      sent_ = true;
    }
    if (expected_ && !arrived_ && test(arrival_)) {
      STAGHORN_CUDA_CHECK(
          cudaMemcpyAsync(channel_.receive, receive_.data(), channel_.bytes, cudaMemcpyHostToDevice, stream_));
      on_device_.record(stream_);
      arrived_ = true;
    }
    if (sent_ && !left_) left_ = test(departure_);
    return arrived_ && left_;
  }
  void hold_default_stream() const { on_device_.hold(nullptr); }

 private:
  static bool test(MPI_Request& request) {
    int done = 0;
    check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  }

  FaceChannel channel_;
  Buffer send_, receive_;
  cudaStream_t stream_ = nullptr;
  Event on_host_, on_device_;
  MPI_Request arrival_ = MPI_REQUEST_NULL, departure_ = MPI_REQUEST_NULL;
  bool expected_ = true, sent_ = true, arrived_ = true, left_ = true;
};

class StagedTransport final : public Transport {
 public:
  StagedTransport(const Communicator& communicator, const std::vector<FaceChannel>& channels, bool send_is_pinned) {
    for (const FaceChannel& channel : channels)
      faces_.push_back(std::make_unique<StagedFace>(communicator, channel, send_is_pinned));
  }
  void start() override {
    packed_.record(nullptr);
    for (auto& face : faces_) face->start(packed_);
  }
  void progress() override {
    for (auto& face : faces_) face->progress();
  }
  void finish() override {
    for (bool done = false; !done;) {
      done = true;
      for (auto& face : faces_) done &= face->progress();
    }
    for (auto& face : faces_) face->hold_default_stream();
  }

 private:
  Event packed_;
  std::vector<std::unique_ptr<StagedFace>> faces_;
};

// MPI reads and writes device memory itself; it does not know of streams, so the host waits for the packing kernel.
class CudaAwareTransport final : public Transport {
 public:
  CudaAwareTransport(const Communicator& communicator, std::vector<FaceChannel> channels)
      : mpi_(make_mpi_transport(communicator, std::move(channels))) {}
  void start() override {
    STAGHORN_CUDA_CHECK(cudaStreamSynchronize(nullptr));
    mpi_->start();
  }
  void progress() override { mpi_->progress(); }
  void finish() override { mpi_->finish(); }

 private:
  std::unique_ptr<Transport> mpi_;
};

}  // namespace

bool mpi_takes_device_pointers() {
#if defined(OPEN_MPI) && defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() == 1;
#else
  return false;
#endif
}

std::unique_ptr<Transport> make_staged_transport(const Communicator& communicator, std::vector<FaceChannel> channels) {
  return std::make_unique<StagedTransport>(communicator, channels, false);
}

std::unique_ptr<Transport> make_mapped_transport(const Communicator& communicator, std::vector<FaceChannel> channels) {
  return std::make_unique<StagedTransport>(communicator, channels, true);
}

std::unique_ptr<Transport> make_cuda_aware_transport(const Communicator& communicator,
                                                     std::vector<FaceChannel> channels) {
  return std::make_unique<CudaAwareTransport>(communicator, std::move(channels));
}

}  // namespace staghorn
