#include "solver/bench/cache_size.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "halo/cuda/cuda_device.hpp"

namespace staghorn {

namespace {

std::string first_word(const std::filesystem::path& file) {
  std::ifstream text(file);
  std::string word;
  text >> word;
  return word;
}

double bytes_of(const std::string& size) {  // "2048K"
  if (size.empty() || size[0] < '0' || size[0] > '9') return 0;
  const double number = std::stod(size);
  return size.back() == 'K' ? 1024 * number : size.back() == 'M' ? 1024 * 1024 * number : number;
}

// As Linux lists them: each cache once, by its level and the processors that share it.
double cache_of_host() {
  namespace fs = std::filesystem;
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
