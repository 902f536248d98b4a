#include "dirac/operators/hop_times.hpp"

namespace staghorn {

void SampledHops::begin(FaceExchange& exchange) {
  sampling_ = exchange.can_time_rounds() && hops_ % spacing == 1;  // the first may have to warm up
  ++hops_;
  if (!sampling_) return;
  take_sample(exchange);
  exchange.time_next_round();
  pending_ = true;
}

void SampledHops::take_sample(const FaceExchange& exchange) {
  if (!pending_) return;
  pending_ = false;
  const auto since_packed = [&](Moment moment) { return marks_[moment].seconds_since(marks_[packed]); };
  const Interval interior{since_packed(interior_begins), since_packed(interior_ends)};
  const Flight flight = exchange.timed_round();
  const auto part = [&](const Interval& time) { return TimeSpent{time.seconds(), overlap_seconds(time, interior)}; };
  CommunicationTimes hop;
  hop.compute.seconds = interior.seconds() + marks_[boundary_ends].seconds_since(marks_[boundary_begins]);
  hop.gather.seconds = marks_[packed].seconds_since(marks_[gather]);
  hop.to_host = part(flight.to_host);
  hop.messages = part(flight.messages);
  hop.to_device = part(flight.to_device);
  hop.communication = part({0, flight.arrived()});
  sum_ += hop;
  ++samples_;
}

CommunicationTimes SampledHops::times(const FaceExchange& exchange) {
  take_sample(exchange);
  return samples_ == 0 ? CommunicationTimes() : sum_ * (double(hops_) / double(samples_));
}

void SampledHops::reset() {
  hops_ = samples_ = 0;
  pending_ = false;
  sum_ = {};
}

}  // namespace staghorn
