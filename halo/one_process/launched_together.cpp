#include "halo/one_process/launched_together.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

#include "halo/watch/error.hpp"
#include "halo/watch/surroundings.hpp"

namespace staghorn {

namespace {

// What the names of launchers' variables begin with: mpirun of Open MPI, PMI and PMIx (whose PMIX_MCA_... are the
// user's), srun, Flux, and those of IBM, Cray, Intel and MVAPICH.
constexpr std::array launcher_variables = {
    "OMPI_COMM_",   "PMI_",  "PMI2_", "PMIX_RANK", "PMIX_NAMESPACE", "PMIX_SERVER",     "SLURM_STEP",
    "SLURM_PROCID", "FLUX_", "JSM_",  "ALPS_",     "PALS_",          "MPI_LOCALRANKID", "MV2_COMM_"};

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

void require_one_process() {
  // Of Open MPI's mpirun, of Hydra's (MPICH, Intel MPI), of srun. An mpirun within a step of srun says the number.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const char* text = environment_variable(name);
    if (!text || !*text) continue;
    if (std::atoi(text) > 1)
      throw Error(ErrorKind::mpi, "processes", "one, as this build of Staghorn has no MPI",
                  text + std::string(" (") + name +
                      "): each would do the whole work. Build Staghorn where an MPI is found, or start one process. "
                      "For processes with different work unset the variable.");
    return;
  }
}

}  // namespace staghorn
