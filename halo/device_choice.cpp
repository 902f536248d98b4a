#include "halo/device_choice.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "halo/cuda/cuda_device.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/forked.hpp"
#include "halo/watch/surroundings.hpp"

namespace staghorn {

namespace {

std::vector<std::string> entries_of(const std::string& request) {
  std::vector<std::string> entries;
  for (std::size_t first = 0; first <= request.size();) {
    const std::size_t end = std::min(request.find(',', first), request.size());
    entries.push_back(request.substr(first, end - first));
    first = end + 1;
  }
  return entries;
}

// The number of the GPU behind "cuda:". Throws Error, which names the whole request.
int number_of(const std::string& entry, const std::string& request) {
  int index = 0;
  const char *first = entry.data() + 5, *last = entry.data() + entry.size();
  const auto [end, code] = std::from_chars(first, last, index);
  if (code != std::errc() || end != last || index < 0)
    throw Error(ErrorKind::device, "device", "a number behind cuda:", "'" + request + "'");
  return index;
}

void check_entry(const std::string& entry, const std::string& request) {
  if (entry == "cpu" || entry == "auto" || entry == "cuda") return;
  if (entry.starts_with("cuda:")) return void(number_of(entry, request));
  throw Error(ErrorKind::device, "device", "auto, cpu, cuda or cuda:n, or a list of these with commas",
              "'" + request + "'");
}

std::string host_name() {
  char name[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0;
  check_mpi(MPI_Get_processor_name(name, &length), "MPI_Get_processor_name");
  return std::string(name, std::size_t(length));
}

bool of_both_kinds(const std::vector<std::string>& devices) {
  const auto on_cpu = std::count(devices.begin(), devices.end(), "cpu");
  return on_cpu > 0 && on_cpu < std::ptrdiff_t(devices.size());
}

}  // namespace

int choose_device(const std::string& request, int rank_on_host) {
  const std::vector<std::string> entries = entries_of(request);
  for (const std::string& entry : entries) check_entry(entry, request);  // a wrong one is wrong on every rank
  const std::size_t n = entries.size();
  const auto entry_of = [&](int rank) -> const std::string& { return entries[std::size_t(rank) % n]; };
  const std::string& entry = entry_of(rank_on_host);
  int turn = 0;  // ranks of this host before this one that take the same entry
  for (int rank = 0; rank < rank_on_host; ++rank) turn += entry_of(rank) == entry;
  if (entry == "cpu") return -1;
  if (entry == "auto") return cuda::device_count() > 0 ? turn % cuda::device_count() : -1;
  if (!cuda::built())
    throw Error(ErrorKind::device, "device", "auto or cpu (this build has no CUDA code)", "'" + request + "'");
  const int count = cuda::device_count(), index = entry == "cuda" ? 0 : number_of(entry, request);
  if (index >= count)
    throw Error(ErrorKind::device, "device",
                count == 0 ? forks() > 0 ? "auto or cpu (a child that was forked has no GPU after its parent had one)"
                                         : "auto or cpu (no GPU or driver was found)"
                           : "one of " + std::to_string(count) + " GPUs, cuda:0 to cuda:" + std::to_string(count - 1),
                "'" + request + "'");
  return entry == "cuda" ? turn % count : index;
}

int choose_device(const std::string& request, const Communicator& communicator, int rank_on_host) {
  for (const std::string& entry : entries_of(request)) check_entry(entry, request);
  try {
    return choose_device(request, rank_on_host);
  } catch (const LocalError&) {
    throw;
  } catch (const Error& error) {
    if (communicator.size() == 1) throw;
    throw Error(error.kind(),
                "rank " + std::to_string(communicator.rank()) + " on host " + host_name() + ": " + error.what());
  }
}

std::string describe_device(int cuda_device) {
  if (cuda_device < 0) return "cpu";
  return "cuda:" + std::to_string(cuda_device) + " (" + cuda::device_name(cuda_device) + ")";
}

std::vector<std::string> devices_of_ranks(const Communicator& communicator, int cuda_device) {
  std::string mine;
  communicator.agree([&] { mine = describe_device(cuda_device); });
  if (communicator.is_alone()) return {mine};
  constexpr std::size_t longest = 128;
  mine.resize(longest);
  std::string all(longest * std::size_t(communicator.size()), '\0');
  communicator.enter();
  check_mpi(
      MPI_Allgather(mine.data(), int(longest), MPI_CHAR, all.data(), int(longest), MPI_CHAR, communicator.handle()),
      "MPI_Allgather");
  std::vector<std::string> devices;
  for (std::size_t rank = 0; rank < std::size_t(communicator.size()); ++rank)
    devices.emplace_back(all.substr(rank * longest, longest).c_str());
  return devices;
}

void require_one_kind(const std::vector<std::string>& devices) {
  if (!of_both_kinds(devices)) return;
  throw Error(ErrorKind::device, "device", "CPUs on all ranks, or GPUs on all ranks: this cannot run on both kinds",
              describe_devices(devices));
}

std::string describe_devices(const std::vector<std::string>& devices) {
  if (!of_both_kinds(devices)) return devices.front();
  std::string text;
  std::vector<std::string> named;
  for (const std::string& device : devices) {
    if (std::find(named.begin(), named.end(), device) != named.end()) continue;
    named.push_back(device);
    const auto n = std::count(devices.begin(), devices.end(), device);
    text += (text.empty() ? "" : " + ") + (n > 1 ? std::to_string(n) + " x " : "") + device;
  }
  return text;
}

}  // namespace staghorn
