#include "solver/interface/milc/failure.hpp"

#include <staghorn.h>

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
  if (status < 0) throw Failure(staghorn_last_error());
  return status;
}

void refuse(const std::string& name, const std::string& expected, const std::string& found) {
  throw Failure(name + ": expected " + expected + ", found " + found);
}

void require_pointer(const char* name, const void* pointer) {
  if (!pointer) refuse(name, "a pointer", "NULL");
}

void require_choice(const char* name, int value, int first, int last) {
  if (value < first || value > last)
    refuse(name, std::to_string(first) + " to " + std::to_string(last), std::to_string(value));
}

void require_own_memory(const CallMemory& memory) {
  if (const auto clash = memory.clash())
    refuse(clash->written, "memory of its own, as the call writes it", "bytes of " + clash->other);
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
