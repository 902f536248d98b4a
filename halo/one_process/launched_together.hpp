// Whether a launcher has started this process, and others beside it.
#pragma once

#include <string>
#include <vector>

namespace staghorn {

// Name and version of the MPI of this build, as "Open MPI v4.1.4", "MPICH 4.0.2", "no MPI". Local; MPI need not have
// begun.
std::string mpi_library();

// For a process that MPI, or its absence, leaves alone. Throws Error if a launcher says that it started several
// processes: each would do the whole work. The launcher may belong to another MPI than this build. STAGHORN_ALONE=1
// says that they have different work. Reads the environment whatever the surroundings say. Local.
void require_one_process();

// While MPI starts in a process that no launcher has started, Open MPI has no daemon to start beside it and no network
// to look for, and hwloc asks no driver of graphics or OpenCL for GPUs, which takes some tenths of a second: their
// variables say so, but for those that the user has set. Other MPIs do not read those of Open MPI. Writes to the
// environment, as the start of MPI does itself: no other thread may read it meanwhile. Local.
class QuickStartAlone {
 public:
  QuickStartAlone();
  ~QuickStartAlone();
  QuickStartAlone(const QuickStartAlone&) = delete;
  QuickStartAlone& operator=(const QuickStartAlone&) = delete;

 private:
  std::vector<const char*> set_;
};

}  // namespace staghorn
