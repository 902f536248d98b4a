#include "halo/thread_count.hpp"

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "halo/watch/error.hpp"
#include "halo/watch/surroundings.hpp"

namespace staghorn {

int sensible_thread_count(const Communicator& communicator) {
  const char* asked = environment_variable("OMP_NUM_THREADS");
  const bool given = communicator.any(asked != nullptr && *asked != '\0');
  if (given) return omp_get_max_threads();

  if (communicator.is_alone()) return omp_get_num_procs();
  MPI_Comm host;
  check_mpi(MPI_Comm_split_type(communicator.handle(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
            "MPI_Comm_split_type");
  int ranks_on_host = 1;
  check_mpi(MPI_Comm_size(host, &ranks_on_host), "MPI_Comm_size");
  // Ranks bound to disjoint cores have a union larger than their own set; ranks that are not bound share one set.
  std::array<cpu_set_t, 16> own{}, together{};  // one set holds 1024 cores
  communicator.agree([&] {
    if (sched_getaffinity(0, sizeof own, own.data()) != 0) throw Error("the cores of this process could not be listed");
  });
  check_mpi(MPI_Allreduce(&own, &together, int(sizeof own), MPI_BYTE, MPI_BOR, host), "MPI_Allreduce");
  check_mpi(MPI_Comm_free(&host), "MPI_Comm_free");
  return std::max(
      1, std::min(CPU_COUNT_S(sizeof own, own.data()), CPU_COUNT_S(sizeof together, together.data()) / ranks_on_host));
}

}  // namespace staghorn
