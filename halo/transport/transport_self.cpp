#include <cstring>
#include <utility>

#include "halo/transport/transport.hpp"

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

}  // namespace staghorn
