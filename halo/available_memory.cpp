#include "halo/available_memory.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "halo/cuda/cuda_device.hpp"
#include "halo/cuda/cuda_start.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/surroundings.hpp"

namespace staghorn {

namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

double host_bytes() {
  std::ifstream meminfo("/proc/meminfo");
  std::string name, unit;
  for (double kibibytes; meminfo >> name >> kibibytes;) {
    if (name == "MemAvailable:") return 1024 * kibibytes;
    std::getline(meminfo, unit);
  }
  return unlimited;
}

double limit_from_environment(const char* name) {
  const char* text = environment_variable(name);
  if (!text || !*text) return unlimited;
  char* end = nullptr;
  const double bytes = std::strtod(text, &end);
  if (*end || !(bytes >= 0)) throw Error(name, "a number of bytes", "'" + std::string(text) + "'");
  return bytes;
}

}  // namespace

HostSharers count_sharers(const Communicator& communicator, int cuda_device) {
  if (const HostSharers* of_job = communicator.sharers()) return *of_job;
  constexpr std::size_t length = 32;  // of a PCI bus id
  std::array<char, length> mine{};
  communicator.agree([&] {
    if (cuda_device < 0) return;
    const std::string id = cuda::device_identity(cuda_device);
    std::memcpy(mine.data(), id.data(), std::min(id.size(), length - 1));
  });
  if (communicator.is_alone()) return {};
  MPI_Comm host = MPI_COMM_NULL;
  communicator.enter();
  check_mpi(MPI_Comm_split_type(communicator.handle(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
            "MPI_Comm_split_type");
  HostSharers sharers;
  check_mpi(MPI_Comm_rank(host, &sharers.rank), "MPI_Comm_rank");
  check_mpi(MPI_Comm_size(host, &sharers.on_host), "MPI_Comm_size");
  std::vector<std::array<char, length>> all(std::size_t(sharers.on_host));
  communicator.enter();
  check_mpi(MPI_Allgather(mine.data(), length, MPI_CHAR, all.data(), length, MPI_CHAR, host), "MPI_Allgather");
  check_mpi(MPI_Comm_free(&host), "MPI_Comm_free");
  sharers.on_device = int(std::count(all.begin(), all.end(), mine));
  return sharers;
}

AvailableMemory available_memory(const Communicator& communicator, int cuda_device, GpuMemory counted) {
  const HostSharers sharers = count_sharers(communicator, cuda_device);
  AvailableMemory memory;
  communicator.agree([&] {
    memory.host = host_bytes() / sharers.on_host;
    memory.host_limit = limit_from_environment("STAGHORN_HOST_MEMORY") / sharers.on_host;
    memory.device_limit = limit_from_environment("STAGHORN_GPU_MEMORY") / sharers.on_device;
    if (cuda_device < 0) return;
    if (counted == GpuMemory::all) {
      memory.device = double(cuda::all_bytes(cuda_device)) / sharers.on_device;
    } else {
      cuda::select_device(cuda_device);
      memory.device = double(cuda::free_bytes()) / sharers.on_device;
    }
  });
  return memory;
}

}  // namespace staghorn
