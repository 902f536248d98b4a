#include "solver/interface/milc/failure.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

// The host's, if it has one. MILC's ends all of its ranks.
extern "C" void terminate(int status) __attribute__((weak));

namespace staghorn::milc {

namespace {

char line[2048];  // of the failure that ends the job

constexpr std::chrono::seconds head_start_of_rank_0{5};

}  // namespace

int require(int status) {
  if (status < 0) throw Error(staghorn_last_error());
  return status;
}

void keep_failure(const char* function, const char* text) noexcept {
  std::snprintf(line, sizeof line, "staghorn: %s: %s\n", function, text);
}

void end_host(MPI_Comm communicator) {
  int rank = 0;
  if (communicator != MPI_COMM_NULL) MPI_Comm_rank(communicator, &rank);
  if (rank != 0) std::this_thread::sleep_for(head_start_of_rank_0);
  std::fflush(stdout);
  std::fputs(line, stderr);
  std::fflush(stderr);
  if (terminate) terminate(1);
  if (communicator != MPI_COMM_NULL) MPI_Abort(communicator, 1);
  std::exit(1);
}

}  // namespace staghorn::milc
