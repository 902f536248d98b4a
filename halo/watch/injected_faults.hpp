// Failures on request, to test that one rank's ends them all, with a message, and that nothing is left half-done. Off
// unless the environment asks for them: with STAGHORN_FAIL_CUDA=RANK:COUNT the COUNT-th checked call of CUDA or cuBLAS
// fails on that rank (of MPI_COMM_WORLD), with STAGHORN_FAIL_MPI=RANK:COUNT that of MPI. The call itself is made.
#pragma once

namespace staghorn {

// Whether the call that is being checked is the one. Throws Error where the environment's text cannot be understood.
// By any thread, once MPI is initialised. Local.
bool cuda_call_is_to_fail();
bool mpi_call_is_to_fail();

}  // namespace staghorn
