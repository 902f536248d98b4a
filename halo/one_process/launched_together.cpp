#include "halo/one_process/launched_together.hpp"

#include <cstdlib>
#include <string>

#include "halo/watch/error.hpp"
#include "halo/watch/surroundings.hpp"

namespace staghorn {

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
