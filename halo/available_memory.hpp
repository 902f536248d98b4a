// How much memory a rank may use, looked up before fields are made: on the host, and on its GPU.
#pragma once

#include "halo/communicator.hpp"

namespace staghorn {

struct AvailableMemory {  // bytes for one rank: its share, if several ranks use the same host or GPU
  double host = 0;        // MemAvailable of /proc/meminfo; infinite if the system does not say
  double device = 0;      // free on this rank's GPU; 0 without one
  double host_limit = 0;  // limit set by the environment, as below; infinite if none is set
  double device_limit = 0;
};

// Of a group with sharers of its own, those. Ranks are counted on this host and on the GPU `cuda_device` of this rank.
// Collective.
HostSharers count_sharers(const Communicator& communicator, int cuda_device);

// What counts as there on a GPU: what is free, or all of it, which is known before the GPU is made ready.
enum class GpuMemory { free, all };

// STAGHORN_HOST_MEMORY (bytes of one host) and STAGHORN_GPU_MEMORY (bytes of one GPU) set limits below what is there.
// `cuda_device` is -1 for a rank that computes on the CPU. Throws Error for a limit that is not a number of bytes.
// Collective.
AvailableMemory available_memory(const Communicator& communicator, int cuda_device,
                                 GpuMemory counted = GpuMemory::free);

}  // namespace staghorn
