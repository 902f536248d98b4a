#include "solver/report/provenance.hpp"

#include <unistd.h>

#include <ctime>
#include <fstream>

#include "halo/communicator.hpp"
#include "halo/one_process/launched_together.hpp"

namespace staghorn {

namespace {

// Its model; of an Arm processor the numbers of the implementer and of the part, which are all that Linux tells.
std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  std::string implementer;
  for (std::string line; std::getline(info, line);) {
    const std::string value = line.substr(std::min(line.find(':') + 2, line.size()));
    if (line.starts_with("model name")) return value;
    if (line.starts_with("CPU implementer")) implementer = value;
    if (line.starts_with("CPU part")) return "Arm, implementer " + implementer + ", part " + value;
  }
  return "unknown";
}

std::string host_name() {
  char name[256] = "";
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  char text[32] = "";
  if (gmtime_r(&now, &utc)) std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

}  // namespace

std::string version() { return STAGHORN_VERSION; }

std::string build_summary(bool with_mpi) {
  return std::string("gcc ") + __VERSION__ + (with_mpi || !built_with_mpi ? ", " + mpi_library() : "");
}

std::map<std::string, std::string> run_provenance(bool with_mpi) {
  return {{"version", version()},
          {"build", build_summary(with_mpi)},
          {"processor", processor_name()},
          {"host", host_name()},
          {"started", now_utc()}};
}

}  // namespace staghorn
