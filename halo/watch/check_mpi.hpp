// Return codes of MPI become errors.
#pragma once

namespace staghorn {

// Throws LocalError of ErrorKind::mpi with MPI's own text unless `code` is MPI_SUCCESS. Local.
void check_mpi(int code, const char* what);
// The same for a call that is made again until it is `done`, as often as the clock has it: a failure that a test
// injects is counted at its end alone, so that all runs of a program count alike.
void check_mpi_until(bool done, int code, const char* what);

}  // namespace staghorn
