#include "halo/watch/check_mpi.hpp"

#include <mpi.h>

#include <string>

#include "halo/watch/error.hpp"
#include "halo/watch/injected_faults.hpp"

namespace staghorn {

void check_mpi(int code, const char* what) { check_mpi_until(true, code, what); }

void check_mpi_until(bool done, int code, const char* what) {
  if (done && mpi_call_is_to_fail()) code = MPI_ERR_OTHER;
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw LocalError(ErrorKind::mpi, std::string(what) + ": " + std::string(text, std::size_t(length)));
}

}  // namespace staghorn
