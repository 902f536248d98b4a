// Return codes of MPI become errors.
#pragma once

namespace staghorn {

// Throws LocalError of ErrorKind::mpi with MPI's own text unless `code` is MPI_SUCCESS. Local.
void check_mpi(int code, const char* what);

}  // namespace staghorn
