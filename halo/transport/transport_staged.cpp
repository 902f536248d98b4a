// Faces between GPUs through pinned host memory: asynchronous copies and non-blocking MPI. Each face has a stream of
// its own, so that copies and messages of different faces overlap [Kim & Lee, Lattice 2010]. `mapped` is the same for
// faces that kernels pack straight into pinned memory: nothing is copied out.
#include "halo/transport/transport_table.hpp"
#ifdef STAGHORN_CUDA
#include <algorithm>
#include <array>
#include <climits>
#include <limits>
#include <optional>
#include <string>

#include "halo/buffer.hpp"
#include "halo/cuda/cuda_check.hpp"
#include "halo/cuda/cuda_event.hpp"
#include "halo/cuda/cuda_time_mark.hpp"
#include "halo/watch/alarm.hpp"
#include "halo/watch/stopwatch.hpp"
#endif

namespace staghorn {

#ifdef STAGHORN_CUDA

namespace {

using cuda::Event;

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
    if (communicator.alarm()) messages_.emplace(*communicator.alarm(), requests_, 1);
  }
  ~StagedFace() {
    messages_.reset();  // calls back what travels
    int finalised = 0;
    MPI_Finalized(&finalised);
    if (!finalised) {
      MPI_Request_free(&arrival_);
      MPI_Request_free(&departure_);
    }
    cudaStreamDestroy(stream_);
  }
  StagedFace(const StagedFace&) = delete;

  void start(const Event& packed, bool timed) {
    timed_ = timed;
    if (messages_) messages_->begin();
    packed.hold(stream_);
    if (send_.bytes() > 0 && channel_.sends())
      STAGHORN_CUDA_CHECK(
          cudaMemcpyAsync(send_.data(), channel_.send, channel_.bytes, cudaMemcpyDeviceToHost, stream_));
    if (timed_) copied_out_.set(stream_);
    on_host_.record(stream_);
    expected_ = arrived_ = !channel_.receives();
    sent_ = left_ = !channel_.sends();
  }
  // True once the host has nothing left to do.
  bool progress() {
    if (!expected_ && on_device_.reached()) {  // the face before has left the receive buffer
      check_mpi(MPI_Start(&arrival_), "MPI_Start");
      expected_ = true;
    }
    if (!sent_ && on_host_.reached()) {
      if (timed_) underway_.begin = wall_seconds();
      check_mpi(MPI_Start(&departure_), "MPI_Start");
      sent_ = true;
    }
    if (expected_ && !arrived_ && test(arrival_)) {
      if (timed_) arrived_mark_.set(stream_);
      STAGHORN_CUDA_CHECK(
          cudaMemcpyAsync(channel_.receive, receive_.data(), channel_.bytes, cudaMemcpyHostToDevice, stream_));
      if (timed_) copied_in_.set(stream_);
      on_device_.record(stream_);
      arrived_ = true;
    }
    if (sent_ && !left_) left_ = test(departure_);
    const bool done = arrived_ && left_;
    if (messages_ && done) messages_->end();
    if (timed_ && done) {
      underway_.end = wall_seconds();
      timed_ = false;
    }
    return done;
  }
  void hold_default_stream() const { on_device_.hold(nullptr); }

  // Times of the round that was timed. Copies: on the device's clock, since `packed`. Both messages: on the host's
  // clock, from the departure of the one until both are done.
  Interval copy_out(const cuda::TimeMark& packed) const { return {0, copied_out_.seconds_since(packed)}; }
  Interval copy_in(const cuda::TimeMark& packed) const {
    return {arrived_mark_.seconds_since(packed), copied_in_.seconds_since(packed)};
  }
  const Interval& underway() const { return underway_; }
  const FaceChannel& channel() const { return channel_; }

 private:
  static bool test(MPI_Request& request) {
    int done = 0;
    const int code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    check_mpi_until(done != 0, code, "MPI_Test");
    return done != 0;
  }

  FaceChannel channel_;
  Buffer send_, receive_;
  cudaStream_t stream_ = nullptr;
  Event on_host_, on_device_;
  std::array<MPI_Request, 2> requests_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Request &arrival_ = requests_[0], &departure_ = requests_[1];
  std::optional<Alarm::Messages> messages_;  // the same, for ranks that hear an alarm
  bool expected_ = true, sent_ = true, arrived_ = true, left_ = true;
  bool timed_ = false;
  cuda::TimeMark copied_out_, arrived_mark_, copied_in_;
  Interval underway_;
};

class StagedTransport final : public Transport {
 public:
  StagedTransport(const Communicator& communicator, const std::vector<FaceChannel>& channels, bool send_is_pinned)
      : copies_out_(!send_is_pinned), alarm_(communicator.alarm()) {
    for (const FaceChannel& channel : channels)
      faces_.push_back(std::make_unique<StagedFace>(communicator, channel, send_is_pinned));
  }
  void start() override {
    if (timed_) packed_mark_.set();
    packed_.record(nullptr);
    for (auto& face : faces_) face->start(packed_, timed_);
    timed_ = false;
  }
  bool progress() override {
    bool done = true;
    for (auto& face : faces_) done &= face->progress();
    return done;
  }
  void finish() override {
    while (!progress())
      if (alarm_) alarm_->hear();
    for (auto& face : faces_) face->hold_default_stream();
  }

  void time_next_round() override { timed_ = true; }
  // A message leaves when its face is on the host. This moment joins the two clocks.
  Flight timed_round() const override {
    constexpr double late = std::numeric_limits<double>::max();
    Flight flight;
    Interval underway{late, 0};
    double first_on_host = late;
    flight.to_device.begin = late;
    for (const auto& face : faces_) {
      if (face->channel().sends()) {
        const Interval out = face->copy_out(packed_mark_);
        first_on_host = std::min(first_on_host, out.end);
        flight.to_host.end = std::max(flight.to_host.end, out.end);
        underway.begin = std::min(underway.begin, face->underway().begin);
      }
      if (face->channel().receives()) {
        const Interval in = face->copy_in(packed_mark_);
        flight.to_device = {std::min(flight.to_device.begin, in.begin), std::max(flight.to_device.end, in.end)};
      }
      underway.end = std::max(underway.end, face->underway().end);
    }
    flight.messages = {first_on_host, first_on_host + underway.seconds()};
    if (!copies_out_) flight.to_host = {};
    return flight;
  }

 private:
  bool copies_out_, timed_ = false;
  Alarm* alarm_;  // nullptr: there is none
  cuda::TimeMark packed_mark_;
  Event packed_;
  std::vector<std::unique_ptr<StagedFace>> faces_;
};

template <bool send_is_pinned>
std::unique_ptr<Transport> make_staged_transport(const TransportSetup& setup) {
  return made_on_all(setup.communicator, [&] {
    return std::make_unique<StagedTransport>(setup.communicator, setup.channels, send_is_pinned);
  });
}

}  // namespace
#endif

extern const TransportKind staged_transport = {
    .name = "staged",
    .description = "copies through pinned host memory, and MPI",
    .space = MemorySpace::cuda,
    .packed_in = MemorySpace::cuda,
    .by_messages = true,
    .owns_ghosts = false,
    .to_host = {},
    .to_device = {},
    .messages_note = "",
    .overlap_note = "",
    .obstacle = nullptr,
#ifdef STAGHORN_CUDA
    .make = make_staged_transport<false>,
#else
    .make = nullptr,
#endif
};

extern const TransportKind mapped_transport = {
    .name = "mapped",
    .description = "faces packed straight into pinned host memory, and MPI",
    .space = MemorySpace::cuda,
    .packed_in = MemorySpace::pinned,
    .by_messages = true,
    .owns_ghosts = false,
    .to_host = {TimedPart::inside_another, "within gather"},
    .to_device = {},
    .messages_note = "",
    .overlap_note = "",
    .obstacle = nullptr,
#ifdef STAGHORN_CUDA
    .make = make_staged_transport<true>,
#else
    .make = nullptr,
#endif
};

}  // namespace staghorn
