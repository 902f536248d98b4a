// Whether a launcher has started several processes of this program.
#pragma once

namespace staghorn {

// Throws Error if mpirun or srun says that it started several processes: without MPI, each would do the whole work.
// Local.
void require_one_process();

}  // namespace staghorn
