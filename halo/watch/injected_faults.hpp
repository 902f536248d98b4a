// Failures on request. Tests use them to see that the failure of one rank ends all ranks with a message, and that
// nothing is left half-done. The environment asks for a failure:
//
//   STAGHORN_FAIL_CUDA=RANK:COUNT               the COUNT-th checked call of CUDA or cuBLAS fails on that rank
//   STAGHORN_FAIL_MPI=RANK:COUNT                the COUNT-th checked call of MPI fails on that rank
//   ...=RANK:COUNT in ACTIVITY                  only calls within that activity (watch/activity.hpp) are counted
//
// RANK is the rank in MPI_COMM_WORLD. The call itself is made.
#pragma once

namespace staghorn {

// Whether the call that is being checked is the one. Throws Error where the environment's text cannot be understood.
// By any thread, once MPI is initialised. Local.
bool cuda_call_is_to_fail();
bool mpi_call_is_to_fail();

}  // namespace staghorn
