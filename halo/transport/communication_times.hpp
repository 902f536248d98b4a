// Where the time of hops goes whose faces travel: its parts, and how much of each the rank computed
// meanwhile. Plain data, in seconds, of one rank. The parts are those of Kim & Lee, Lattice 2010.
#pragma once

#include <algorithm>

namespace staghorn {

// From one moment to another of some clock; empty unless begin < end.
struct Interval {
  double begin = 0, end = 0;
  double seconds() const { return std::max(0.0, end - begin); }
};

inline double overlap_seconds(const Interval& a, const Interval& b) {
  return Interval{std::max(a.begin, b.begin), std::min(a.end, b.end)}.seconds();
}

struct TimeSpent {
  double seconds = 0;
  double hidden = 0;  // of these, while the rank computed

  TimeSpent& operator+=(const TimeSpent& other) {
    seconds += other.seconds;
    hidden += other.hidden;
    return *this;
  }
  TimeSpent operator*(double factor) const { return {factor * seconds, factor * hidden}; }
};

// Faces of different directions travel together, so the parts of the communication may add up to more than it.
struct CommunicationTimes {
  TimeSpent compute;    // hops, the lines of CG that are fused into them included
  TimeSpent gather;     // faces packed
  TimeSpent to_host;    // copies from a GPU
  TimeSpent messages;   // from when the first leaves until all have arrived and left
  TimeSpent to_device;  // copies to a GPU
  TimeSpent sums;       // over ranks

  TimeSpent communication;  // from packed faces to the last ghost in place

  CommunicationTimes& operator+=(const CommunicationTimes& other) {
    compute += other.compute;
    gather += other.gather;
    to_host += other.to_host;
    messages += other.messages;
    to_device += other.to_device;
    sums += other.sums;
    communication += other.communication;
    return *this;
  }
  CommunicationTimes operator*(double factor) const {
    return {compute * factor,   gather * factor, to_host * factor,      messages * factor,
            to_device * factor, sums * factor,   communication * factor};
  }
};

// One exchange between GPUs, in seconds since its faces were packed.
struct Flight {
  Interval to_host, messages, to_device;
  double arrived() const { return std::max({to_host.end, messages.end, to_device.end}); }
};

}  // namespace staghorn
