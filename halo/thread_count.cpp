#include "halo/thread_count.hpp"

#include <omp.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "halo/watch/error.hpp"
#include "halo/watch/surroundings.hpp"

namespace staghorn {

namespace {

using Cores = std::array<cpu_set_t, 16>;  // one set holds 1024 cores

int count(const Cores& cores) { return CPU_COUNT_S(sizeof cores, cores.data()); }

// The ranks of this rank's host, and the cores they may run on.
struct CoresOfHost {
  int ranks = 1;
  Cores own{}, together{};
};

CoresOfHost cores_of_host(const Communicator& communicator) {
  CoresOfHost found;
  MPI_Comm host{};
  check_mpi(MPI_Comm_split_type(communicator.handle(), MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host),
            "MPI_Comm_split_type");
  check_mpi(MPI_Comm_size(host, &found.ranks), "MPI_Comm_size");
  communicator.agree([&] {
    if (sched_getaffinity(0, sizeof found.own, found.own.data()) != 0)
      throw Error("the cores of this process could not be listed");
  });
  check_mpi(MPI_Allreduce(&found.own, &found.together, int(sizeof found.own), MPI_BYTE, MPI_BOR, host),
            "MPI_Allreduce");
  check_mpi(MPI_Comm_free(&host), "MPI_Comm_free");
  return found;
}

// The cores that this process could have without its binding. The kernel cuts what is asked for down to the cores of
// the job; the binding is put back at once.
int cores_within_reach(const Cores& own) {
  Cores all, allowed = own;
  std::memset(&all, 0xff, sizeof all);
  if (sched_setaffinity(0, sizeof all, all.data()) != 0) return count(own);
  if (sched_getaffinity(0, sizeof allowed, allowed.data()) != 0) allowed = own;
  sched_setaffinity(0, sizeof own, own.data());
  return count(allowed);
}

}  // namespace

int sensible_thread_count(const Communicator& communicator) {
  const char* asked = environment_variable("OMP_NUM_THREADS");
  const bool given = communicator.any(asked != nullptr && *asked != '\0');
  if (given) return omp_get_max_threads();

  if (communicator.is_alone()) return omp_get_num_procs();
  // Ranks bound to disjoint cores have a union larger than their own set; ranks that are not bound share one set.
  const CoresOfHost host = cores_of_host(communicator);
  return std::max(1, std::min(count(host.own), count(host.together) / host.ranks));
}

std::string advice_on_binding(const Communicator& communicator, int threads) {
  // What each launcher sets, the one that may run within another first, and what to tell of it.
  struct Launcher {
    const char *variable, *advice;
  };
  constexpr Launcher launchers[] = {
      {"OMPI_COMM_WORLD_SIZE", "mpirun --bind-to none, or --map-by slot:PE=N for N cores a rank"},
      {"MPI_LOCALNRANKS", "mpiexec -bind-to none, or -bind-to core:N for N cores a rank"},
      {"SLURM_STEP_ID", "srun --cpus-per-task=N for N cores a rank"}};
  const auto* const own_launcher = std::find_if(std::begin(launchers), std::end(launchers),
                                                [](const Launcher& l) { return environment_variable(l.variable); });
  const bool launched = own_launcher != std::end(launchers);
  if (communicator.is_alone() || !communicator.any(launched)) return "";
  const CoresOfHost host = cores_of_host(communicator);
  const int own = count(host.own), together = count(host.together), reach = cores_within_reach(host.own);
  const bool idle = launched && together < reach;
  const bool crowded = launched && threads > own && own < reach;
  // The first rank with something to say speaks for all.
  const int nobody = communicator.size();
  const int first = -int(communicator.max(-double(idle || crowded ? communicator.rank() : nobody)));
  if (first == nobody) return "";
  std::array<std::int64_t, 7> told{};
  if (communicator.rank() == first) told = {host.ranks, own, together, reach, threads, own_launcher - launchers, idle};
  communicator.sum(told);
  const auto number = [&](int k, const char* what) {
    return std::to_string(told[k]) + " " + what + (told[k] == 1 ? "" : "s");
  };
  const std::string ranks = number(0, "rank") + (told[0] == 1 ? " is" : " of a host are") + " bound to ";
  const std::string what = told[6] ? ranks + std::to_string(told[2]) + " of its " + number(3, "core")
                                   : ranks + number(1, "core") + " each and run " + number(4, "thread") + " there";
  return what + ": start with " + launchers[told[5]].advice;
}

}  // namespace staghorn
