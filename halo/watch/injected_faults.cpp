#include "halo/watch/injected_faults.hpp"

#include <mpi.h>

#include <atomic>
#include <cstdlib>

#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

class Fault {
 public:
  explicit Fault(const char* variable) {
    const char* text = std::getenv(variable);
    if (!text || !*text) return;
    char* end = nullptr;
    const long rank = std::strtol(text, &end, 10);
    const long count = *end == ':' ? std::strtol(end + 1, &end, 10) : 0;
    if (*end != '\0' || rank < 0 || count < 1) throw Error(variable, "RANK:COUNT", "'" + std::string(text) + "'");
    int here = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &here);
    if (rank == here) calls_left_ = count;
  }
  bool is_due() { return calls_left_ > 0 && --calls_left_ == 0; }

 private:
  std::atomic<long> calls_left_{0};  // until the one that fails; 0: none does
};

}  // namespace

bool cuda_call_is_to_fail() {
  static Fault fault("STAGHORN_FAIL_CUDA");
  return fault.is_due();
}

bool mpi_call_is_to_fail() {
  static Fault fault("STAGHORN_FAIL_MPI");
  return fault.is_due();
}

}  // namespace staghorn
