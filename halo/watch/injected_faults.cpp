#include "halo/watch/injected_faults.hpp"

#include <mpi.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "halo/watch/activity.hpp"
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
    if (const std::string rest = end; rest.starts_with(" in ")) activity_ = rest.substr(4);
    if ((*end != '\0' && activity_.empty()) || rank < 0 || count < 1)
      throw Error(variable, "RANK:COUNT or RANK:COUNT in ACTIVITY", "'" + std::string(text) + "'");
    int here = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &here);
    if (rank == here) calls_left_ = count;
  }
  bool is_due() { return calls_left_ > 0 && is_counted() && --calls_left_ == 0; }

 private:
  bool is_counted() const { return activity_.empty() || current_activity().find(activity_) != std::string::npos; }

  std::string activity_;             // calls are counted within it; empty: all calls
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
