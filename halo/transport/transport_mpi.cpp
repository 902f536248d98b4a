// Faces between ranks whose vectors lie on the host: persistent non-blocking MPI requests.
#include <climits>
#include <optional>
#include <string>

#include "halo/transport/transport_table.hpp"
#include "halo/watch/alarm.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

class MpiTransport final : public Transport {
 public:
  MpiTransport(const Communicator& communicator, const std::vector<FaceChannel>& channels) {
    for (const FaceChannel& c : channels) {
      if (c.bytes > INT_MAX) throw Error("face message", "less than 2 GiB", std::to_string(c.bytes) + " bytes");
      MPI_Request request = MPI_REQUEST_NULL;
      check_mpi(
          MPI_Recv_init(c.receive, int(c.bytes), MPI_BYTE, c.receive_from, c.tag, communicator.handle(), &request),
          "MPI_Recv_init");
      requests_.push_back(request);
    }
    for (const FaceChannel& c : channels) {
      MPI_Request request = MPI_REQUEST_NULL;
      check_mpi(MPI_Send_init(c.send, int(c.bytes), MPI_BYTE, c.send_to, c.tag, communicator.handle(), &request),
                "MPI_Send_init");
      requests_.push_back(request);
    }
    if (communicator.alarm()) messages_.emplace(*communicator.alarm(), requests_, channels.size());
  }
  ~MpiTransport() override {
    messages_.reset();  // calls back what travels
    int finalised = 0;
    MPI_Finalized(&finalised);
    if (finalised) return;
    for (MPI_Request& request : requests_) MPI_Request_free(&request);
  }
  void start() override {
    if (messages_) messages_->begin();
    check_mpi(MPI_Startall(int(requests_.size()), requests_.data()), "MPI_Startall");
  }
  bool progress() override {
    if (messages_) {
      bool arrived = false;
      check_mpi_until(false, messages_->test(arrived), "MPI_Testall");  // finish is the end
      return arrived;
    }
    int done = 0;
    const int code = MPI_Testall(int(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
    check_mpi_until(false, code, "MPI_Testall");
    return done != 0;
  }
  void finish() override {
    if (messages_) return check_mpi(messages_->wait(Alarm::for_ever), "MPI_Testall");
    check_mpi(MPI_Waitall(int(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  }

 private:
  std::vector<MPI_Request> requests_;        // receives, then sends
  std::optional<Alarm::Messages> messages_;  // the same, for ranks that hear an alarm
};

}  // namespace

std::unique_ptr<Transport> make_mpi_transport(const Communicator& communicator, std::vector<FaceChannel> channels) {
  return std::make_unique<MpiTransport>(communicator, channels);
}

extern const TransportKind mpi_transport = {
    .name = "mpi",
    .description = "non-blocking MPI messages",
    .space = MemorySpace::host,
    .packed_in = MemorySpace::host,
    .by_messages = true,
    .owns_ghosts = false,
    .to_host = {TimedPart::none, "faces are in host memory"},
    .to_device = {TimedPart::none, "faces are in host memory"},
    .messages_note = "",
    .overlap_note = "an upper limit: arrivals are noticed only between parts of the interior",
    .obstacle = nullptr,
    .make =
        [](const TransportSetup& setup) {
          return made_on_all(setup.communicator,
                             [&] { return make_mpi_transport(setup.communicator, setup.channels); });
        },
};

}  // namespace staghorn
