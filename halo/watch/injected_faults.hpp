// Failures on request. Tests use them to see that the failure of one rank ends all ranks with a message, and that
// nothing is left half-done. The environment asks for a failure, if it is read (surroundings.hpp):
//
//   STAGHORN_FAIL_CUDA=RANK:COUNT               the COUNT-th checked call of CUDA or cuBLAS fails on that rank
//   STAGHORN_FAIL_MPI=RANK:COUNT                the COUNT-th checked call of MPI fails on that rank
//   ...=RANK:COUNT in ACTIVITY                  only calls within that activity (watch/activity.hpp) are counted
//
//   STAGHORN_FAIL_GROUP=GROUP:COUNT             the COUNT-th solution of that group of ranks, from 1, is an Error
//   (split)
//
// RANK is the rank in MPI_COMM_WORLD, 0 without MPI; of a context of the library the one in its grid. The call itself
// is made.
#pragma once

#include <atomic>
#include <string>

namespace staghorn {

// Counts calls down to the one that fails.
class InjectedFault {
 public:
  InjectedFault() = default;  // none
  // From the text of `variable`, as above. Throws Error where the text cannot be understood.
  InjectedFault(const char* variable, const std::string& text, int this_rank);
  InjectedFault(const InjectedFault& other)
      : activity_(other.activity_), calls_left_(other.calls_left_.load(std::memory_order_relaxed)) {}
  InjectedFault& operator=(const InjectedFault&) = delete;

  // Whether the call that is being checked is the one. By any thread.
  bool is_due() { return calls_left_ > 0 && is_counted() && --calls_left_ == 0; }

 private:
  bool is_counted() const;

  std::string activity_;             // calls are counted within it; empty: all calls
  std::atomic<long> calls_left_{0};  // until the one that fails; 0: none does
};

// The same of the surroundings of this thread.
bool cuda_call_is_to_fail();
bool mpi_call_is_to_fail();

}  // namespace staghorn
