#include "solver/bench/this_machine.hpp"

#include <omp.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "halo/available_memory.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "solver/bench/benchmark.hpp"

namespace staghorn {

namespace fs = std::filesystem;

namespace {

std::string first_word(const fs::path& file) {
  std::ifstream text(file);
  std::string word;
  text >> word;
  return word;
}

// NUMA domains that have processors, as Linux lists them; at least 1.
int domains_of_host() {
  int domains = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/sys/devices/system/node", error)) {
    if (!first_word(entry.path() / "cpulist").empty()) ++domains;
  }
  return std::max(1, domains);
}

double bytes_of(const std::string& size) {  // "2048K"
  if (size.empty() || size[0] < '0' || size[0] > '9') return 0;
  const double number = std::stod(size);
  return size.back() == 'K' ? 1024 * number : size.back() == 'M' ? 1024 * 1024 * number : number;
}

// As Linux lists them: each cache once, by its level and the processors that share it.
double cache_of_host() {
  std::map<std::string, double> caches[10];  // of each level
  std::error_code error;
  for (const auto& processor : fs::directory_iterator("/sys/devices/system/cpu", error)) {
    const fs::path folder = processor.path() / "cache";
    if (!fs::is_directory(folder, error)) continue;
    for (const auto& cache : fs::directory_iterator(folder, error)) {
      const std::string level = first_word(cache.path() / "level");
      if (level.size() != 1 || level < "1" || level > "9" || first_word(cache.path() / "type") == "Instruction")
        continue;
      caches[level[0] - '0'][first_word(cache.path() / "shared_cpu_list")] =
          bytes_of(first_word(cache.path() / "size"));
    }
  }
  double bytes = 0;
  for (int level = 9; level > 0 && bytes == 0; --level)
    for (const auto& [sharers, size] : caches[level]) bytes += size;
  return bytes;
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

double last_level_cache(const Communicator& communicator, int cuda_device) {
  const bool is_first = communicator.rank_on_host() == 0;  // all ranks ask
  double bytes = 0;
  if (cuda_device >= 0)
    bytes = double(cuda::cache_bytes(cuda_device));
  else if (is_first)
    bytes = cache_of_host();
  return double(communicator.sum(std::int64_t(bytes)));
}

bool fits_into_cache(double gb_s, double microseconds, double cache) {
  return gb_s > 0 && gb_s * microseconds * 1e3 <= cache;
}

}  // namespace staghorn
