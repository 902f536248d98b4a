#include "halo/device_choice.hpp"

#include <charconv>

#include "halo/cuda/cuda_device.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

int choose_device(const std::string& request, int rank_on_host) {
  if (request == "cpu") return -1;
  if (request == "auto") return cuda::device_count() > 0 ? rank_on_host % cuda::device_count() : -1;
  if (request != "cuda" && request.rfind("cuda:", 0) != 0)
    throw Error(ErrorKind::device, "device", "auto, cpu, cuda or cuda:n", "'" + request + "'");
  int index = 0;
  if (request != "cuda") {
    const char *first = request.data() + 5, *last = request.data() + request.size();
    const auto [end, code] = std::from_chars(first, last, index);
    if (code != std::errc() || end != last || index < 0)
      throw Error(ErrorKind::device, "device", "a number behind cuda:", "'" + request + "'");
  }
  if (!cuda::built())
    throw Error(ErrorKind::device, "device", "auto or cpu (this build has no CUDA code)", "'" + request + "'");
  const int count = cuda::device_count();
  if (index >= count)
    throw Error(ErrorKind::device, "device",
                count == 0 ? "auto or cpu (no GPU or driver was found)"
                           : "one of " + std::to_string(count) + " GPUs, cuda:0 to cuda:" + std::to_string(count - 1),
                "'" + request + "'");
  return request == "cuda" ? rank_on_host % count : index;
}

std::string describe_device(int cuda_device) {
  if (cuda_device < 0) return "cpu";
  return "cuda:" + std::to_string(cuda_device) + " (" + cuda::device_name(cuda_device) + ")";
}

}  // namespace staghorn
