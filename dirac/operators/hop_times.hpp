// How long the parts of hops take. The CPU is timed by the host's clock, a GPU by marks in its queue.
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

// Times hops on a GPU whose faces pass through the host. Work on a GPU happens later than it is queued, so marks are
// queued beside it, in every fifteenth hop. That is often enough for means and costs nothing; the number is odd because
// the two hops of an iteration differ. A kernel's time includes its launch where the queue had run empty.
class SampledHops {
 public:
  static constexpr long spacing = 15;
  enum Moment { gather, packed, interior_begins, interior_ends, boundary_begins, boundary_ends, moments };

  // To be called when a hop begins. May read the marks of the hop that was sampled before.
  void begin(FaceExchange& exchange);
  void mark(Moment moment) {
    if (sampling_) marks_[moment].set();
  }
  // Returns the mean of the sampled hops times the number of all hops. Waits for the device.
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
