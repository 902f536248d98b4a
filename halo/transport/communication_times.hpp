// Where the time of a hop goes if its faces travel. A part of the time is hidden if the rank computed meanwhile. Plain
// data, in seconds, of one rank. The parts are those of Kim & Lee, Lattice 2010.
#pragma once

#include <algorithm>

namespace staghorn {

// From one time to another of some clock. It is empty unless begin < end.
struct Interval {
  double begin = 0, end = 0;
  double seconds() const { return std::max(0.0, end - begin); }
};

inline double overlap_seconds(const Interval& a, const Interval& b) {
  return Interval{std::max(a.begin, b.begin), std::min(a.end, b.end)}.seconds();
}

struct TimeSpent {
  double seconds = 0;
  double hidden = 0;  // the share of `seconds` in which the rank computed

  TimeSpent& operator+=(const TimeSpent& other) {
    seconds += other.seconds;
    hidden += other.hidden;
    return *this;
  }
  TimeSpent operator*(double factor) const { return {factor * seconds, factor * hidden}; }
};

// Faces travel at the same time. So gather, copies and messages may add up to more than `communication`.
struct CommunicationTimes {
  TimeSpent compute;    // hops, with the lines of CG that are fused into them
  TimeSpent gather;     // faces packed
  TimeSpent to_host;    // copies from a GPU
  TimeSpent messages;   // from the first departure until all have arrived and left
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

// One exchange between GPUs. Times are in seconds since its faces were packed.
struct Flight {
  Interval to_host, messages, to_device;
  double arrived() const { return std::max({to_host.end, messages.end, to_device.end}); }
};

}  // namespace staghorn
