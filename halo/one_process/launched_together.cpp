#include "halo/one_process/launched_together.hpp"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

#ifdef STAGHORN_WITHOUT_MPI
constexpr bool has_mpi = false;
#else
constexpr bool has_mpi = true;
#endif

// What the names of launchers' variables begin with: mpirun of Open MPI, PMI and PMIx (whose PMIX_MCA_... are the
// user's), srun, Flux, and those of IBM, Cray, Intel and MVAPICH.
constexpr std::array launcher_variables = {
    "OMPI_COMM_", "PMI_", "PMI2_", "PMIX_RANK", "PMIX_NAMESPACE",  "PMIX_SERVER", "SLURM_STEP", "SLURM_PROCID",
    "FLUX_",      "JSM_", "ALPS_", "PALS_",     "MPI_LOCALRANKID", "MV2_COMM_",   "MVP_COMM_"};

// In each process that a launcher starts: how many there are, and the number of this one. Launchers that may run within
// another one stand first: an mpirun in a step of srun tells its own number. MPI_LOCALNRANKS are those of one host.
struct Launcher {
  const char *size, *rank;
};
constexpr Launcher launchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},  // Open MPI
                                  {"PMI_SIZE", "PMI_RANK"},  // Hydra: MPICH, Intel MPI; PMI of srun
                                  {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"},  // MVAPICH
                                  {"MVP_COMM_WORLD_SIZE", "MVP_COMM_WORLD_RANK"},
                                  {"JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK"},  // jsrun
                                  {"PALS_SIZE", "PALS_RANKID"},                  // Cray
                                  {"PALS_NRANKS", "PALS_RANKID"},
                                  {"PMI_CRAY_NUM_RANKS", nullptr},
                                  {nullptr, "ALPS_APP_PE"},
                                  {"FLUX_JOB_SIZE", "FLUX_TASK_RANK"},
                                  {"PMIX_SIZE", "PMIX_RANK"},  // prterun, srun --mpi=pmix
                                  {nullptr, "MPI_LOCALRANKID"}};
constexpr Launcher srun = {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"};

// A variable as this process was started with: the start of MPI changes some. nullptr: not set.
const char* started_with(const char* name) {
  static const std::string all = [] {
    std::ifstream file("/proc/self/environ", std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  if (all.empty()) return std::getenv(name);
  const std::string beginning = std::string(name) + '=';
  for (std::size_t at = 0; at < all.size(); at = all.find('\0', at) + 1) {
    if (all.compare(at, beginning.size(), beginning) == 0) return all.c_str() + at + beginning.size();
    if (all.find('\0', at) == std::string::npos) break;
  }
  return nullptr;
}

// The whole number in a variable; -1: none.
long number_in(const char* name) {
  const char* text = name ? started_with(name) : nullptr;
  if (!text || !*text) return -1;
  char* end = nullptr;
  const long number = std::strtol(text, &end, 10);
  return *end || number < 0 ? -1 : number;
}

// What a launcher says of several processes, for a message; "": none does.
std::string launched_processes() {
  const auto told = [](const char* size) { return std::to_string(number_in(size)) + " (" + size + ")"; };
  const auto one_of = [](const char* rank) {
    return std::string("several (") + rank + " is " + std::to_string(number_in(rank)) + ")";
  };
  for (const Launcher& launcher : launchers) {
    const long size = number_in(launcher.size);
    if (size > 1) return told(launcher.size);
    if (size >= 0) return "";
    if (number_in(launcher.rank) > 0) return one_of(launcher.rank);
  }
  if (number_in("MPI_LOCALNRANKS") > 1) return told("MPI_LOCALNRANKS");
  // In the shell of `srun --pty` the step's tasks are those of the shell. A batch script has no step of its own.
  if (started_with("SLURM_PTY_PORT")) return "";
  if (number_in(srun.size) > 1) return told(srun.size);
  return number_in(srun.size) < 0 && number_in(srun.rank) > 0 ? one_of(srun.rank) : "";
}

bool was_launched() {
  for (char** variable = environ; variable && *variable; ++variable)
    for (const char* beginning : launcher_variables)
      if (std::string_view(*variable).starts_with(beginning)) return true;
  return false;
}

}  // namespace

QuickStartAlone::QuickStartAlone() {
  if (was_launched()) return;
  constexpr const char* variables[][2] = {
      {"OMPI_MCA_ess_singleton_isolated", "1"},
      {"OMPI_MCA_orte_create_session_dirs", "0"},  // all isolated processes of a host would have the same
      {"OMPI_MCA_pml", "ob1"},
      {"OMPI_MCA_btl", "self"},
      {"HWLOC_COMPONENTS", "-opencl,-gl,-cuda,-nvml,-rsmi,-levelzero"}};  // the topology without GPUs
  for (const auto& [name, value] : variables)
    if (!std::getenv(name) && ::setenv(name, value, 0) == 0) set_.push_back(name);
}

QuickStartAlone::~QuickStartAlone() {
  for (const char* name : set_) ::unsetenv(name);  // processes that this one starts may be several
}

// MPICH says "MPICH Version:\t4.0.2", Cray "MPI VERSION    : CRAY MPICH version 8.1.25", each in the first of many
// lines.
std::string mpi_library() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  if (MPI_Get_library_version(text.data(), &length) != MPI_SUCCESS) return "MPI";
  std::string_view line(text.data());
  line = line.substr(0, line.find_first_of(",\n"));
  constexpr std::string_view of_cray = "MPI VERSION", of_mpich = " Version:\t";
  if (line.starts_with(of_cray)) return std::string(line.substr(std::min(line.find(':') + 2, line.size())));
  std::string name(line);
  if (const std::size_t at = name.find(of_mpich); at != std::string::npos) name.replace(at, of_mpich.size(), " ");
  return name;
}

void require_one_process() {
  const std::string launched = launched_processes();
  const char* alone = std::getenv("STAGHORN_ALONE");
  if (launched.empty() || (alone && std::string_view(alone) == "1")) return;
  throw Error(ErrorKind::mpi, "processes",
              has_mpi ? "one, as the MPI of this build (" + mpi_library() + ") finds no other"
                      : "one, as this build of Staghorn has no MPI",
              launched + ": each would do the whole work. " +
                  (has_mpi ? "Start them with the launcher of that MPI" : "Build Staghorn where an MPI is found") +
                  ", or start one process. For processes with different work set STAGHORN_ALONE=1.");
}

}  // namespace staghorn
