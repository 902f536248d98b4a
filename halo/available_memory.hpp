// How much memory is there before fields are made: on the host, shared by the ranks that run on it, and on the GPU.
#pragma once

#include "halo/communicator.hpp"

namespace staghorn {

struct AvailableMemory {  // bytes that one rank may take, its share where several take from the same
  double host = 0;        // MemAvailable of /proc/meminfo; infinite where the system does not say
  double device = 0;      // free on this rank's GPU; 0 without one
  double host_limit = 0;  // what a solve may take in all, as set below; infinite where it is not
  double device_limit = 0;
};

// The environment variables STAGHORN_HOST_MEMORY and STAGHORN_GPU_MEMORY, bytes of one host and of one GPU, set limits
// below what is there. `cuda_device` is -1 for a rank that computes on the CPU. Throws Error for a limit that is no
// number. Collective.
AvailableMemory available_memory(const Communicator& communicator, int cuda_device);

}  // namespace staghorn
