// How long the ranks of a job take to read links from a parallel file system, by bytes and requests.
#pragma once

#include "solver/machine/machine_model.hpp"

namespace staghorn {

// A file system and what ranks do with it. The rates are assumptions until they are measured.
struct FileSystem {
  int stripes = 1;                // servers or disks that the file lies on (Lustre: OSTs)
  double stripe_rate = 1.5e9;     // bytes per second of one
  double rank_rate = 1e9;         // bytes per second that a rank reads, checks and unpacks
  double request_latency = 2e-3;  // seconds of a request beside its bytes
};

// Of the slowest rank; its requests and messages follow each other.
struct ReadTime {
  double request = 0;  // bytes of one
  double bytes = 0;    // seconds of the bytes: those of the stripes or of a rank, whichever are more
  bool by_stripes = false;
  double latency = 0;  // of all its requests
  double travel = 0;   // of the sites to the ranks that own them
  double total() const { return bytes + latency + travel; }
};

// Each rank reads an equal contiguous part of the file in requests of SiteSlabs::slab_bytes. Where t alone is cut no
// site travels; else all but those of a rank itself do. `part`: of any rank. Nothing else uses the file system. Local.
ReadTime read_time(const Machine& machine, const Lattice& part, double bytes_per_site, const FileSystem& files);

}  // namespace staghorn
