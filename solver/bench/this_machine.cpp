#include "solver/bench/this_machine.hpp"

#include <omp.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "halo/available_memory.hpp"
#include "solver/bench/benchmark.hpp"

namespace staghorn {

namespace {

// NUMA domains that have processors, as Linux lists them; at least 1.
int domains_of_host() {
  namespace fs = std::filesystem;
  int domains = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/sys/devices/system/node", error)) {
    std::ifstream list(entry.path() / "cpulist");
    std::string processors;
    if (list >> processors) ++domains;
  }
  return std::max(1, domains);
}

}  // namespace

Machine this_machine(const Communicator& communicator, std::optional<double> stream) {
  const int hosts = 1 + int(communicator.max(communicator.hosts()[std::size_t(communicator.rank())]));
  const int threads = int(communicator.sum(std::int64_t{omp_get_max_threads()})) / hosts;
  const int ranks = std::clamp(int(communicator.max(domains_of_host())), 1, std::max(1, threads));
  if (!stream) stream = measure_stream_read(communicator, BenchmarkOptions{}) / hosts;
  const AvailableMemory memory = available_memory(communicator, -1);
  const double of_host = std::min(memory.host, memory.host_limit) * communicator.size() / hosts;
  return assumed_cpus(*stream / ranks, of_host / ranks, ranks, threads / ranks);
}

}  // namespace staghorn
