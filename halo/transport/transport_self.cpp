// Faces of a rank on the host to itself: copies at start().
#include <cstring>
#include <utility>

#include "halo/transport/transport_table.hpp"

namespace staghorn {

namespace {

class SelfTransport final : public Transport {
 public:
  explicit SelfTransport(std::vector<FaceChannel> channels) : channels_(std::move(channels)) {}
  void start() override {
    for (const FaceChannel& c : channels_) std::memcpy(c.receive, c.send, c.bytes);
  }
  bool progress() override { return true; }
  void finish() override {}

 private:
  std::vector<FaceChannel> channels_;
};

}  // namespace

std::unique_ptr<Transport> make_self_transport(std::vector<FaceChannel> channels) {
  return std::make_unique<SelfTransport>(std::move(channels));
}

extern const TransportKind self_transport = {
    .name = "self",
    .description = "copies within the rank",
    .space = MemorySpace::host,
    .packed_in = MemorySpace::host,
    .by_messages = false,
    .owns_ghosts = false,
    .to_host = {TimedPart::none, "faces are in host memory"},
    .to_device = {TimedPart::none, "faces are in host memory"},
    .messages_note = "copies within the rank",
    .overlap_note = "copies within the rank",
    .obstacle = nullptr,
    .make = [](const TransportSetup& setup) { return make_self_transport(setup.channels); },
};

}  // namespace staghorn
