// How long the parts of hops take: by the host's clock on the CPU, by marks in the queue on a GPU.
#pragma once

#include <omp.h>

#include <array>

#include "halo/cuda/cuda_time_mark.hpp"
#include "halo/transport/communication_times.hpp"
#include "halo/transport/face_exchange.hpp"

namespace staghorn {

struct HopTimes {  // seconds since the last reset, this rank
  double pack = 0, start = 0, interior = 0, wait = 0, boundary = 0, sums = 0;

  HopTimes& operator+=(const HopTimes& other) {
    pack += other.pack;
    start += other.start;
    interior += other.interior;
    wait += other.wait;
    boundary += other.boundary;
    sums += other.sums;
    return *this;
  }
};

// Adds the time from its making to its end to `seconds`.
class ScopedTimer {
 public:
  explicit ScopedTimer(double& seconds) : seconds_(seconds), start_(omp_get_wtime()) {}
  ~ScopedTimer() { seconds_ += omp_get_wtime() - start_; }
  ScopedTimer(const ScopedTimer&) = delete;
  ScopedTimer& operator=(const ScopedTimer&) = delete;

 private:
  double& seconds_;
  double start_;
};

// Hops on a GPU whose faces pass through the host. Nothing there happens when it is queued, so marks are queued too, in
// every fifteenth hop: often enough for means, too rarely to cost anything, and an odd number, as the two hops of an
// iteration differ. A kernel's time includes its launch where the queue had run empty.
class SampledHops {
 public:
  static constexpr long spacing = 15;
  enum Moment { gather, packed, interior_begins, interior_ends, boundary_begins, boundary_ends, moments };

  void begin(FaceExchange& exchange);  // of a hop; may look at the last one that was sampled
  void mark(Moment moment) {
    if (sampling_) marks_[moment].set();
  }
  // The means of the sampled hops times the number of all; waits for the device.
  CommunicationTimes times(const FaceExchange& exchange);
  void reset();

 private:
  void take_sample(const FaceExchange& exchange);

  long hops_ = 0, samples_ = 0;
  bool sampling_ = false, pending_ = false;
  CommunicationTimes sum_;
  std::array<cuda::TimeMark, moments> marks_;
};

}  // namespace staghorn
