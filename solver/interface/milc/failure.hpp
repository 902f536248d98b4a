// How a call of MILC ends that cannot do its work: one line, then the host's way out.
#pragma once

#include <mpi.h>
#include <staghorn.h>

#include <exception>

#include "halo/watch/arithmetic.hpp"
#include "halo/watch/failure_words.hpp"

namespace staghorn::milc {

// Returns a status of staghorn.h that is no error; throws Error with the text of one. Local.
int require(int status);

// A struct of staghorn.h with its defaults. Local.
template <class Struct>
Struct defaults_of(int which) {
  Struct made{};
  require(staghorn_defaults(&made, sizeof made, which));
  return made;
}

// Keeps the line that end_host will write. Local.
void keep_failure(const char* function, const char* text) noexcept;

// Writes the line and ends the job: by the host's own terminate(1) if it has that function, as MILC has; else by
// MPI_Abort of `communicator` (MPI_COMM_NULL: of none), or exit. Rank 0 of it is first; the others wait a moment, so
// that an error of all ranks is one line.
void end_host(MPI_Comm communicator);

// Ends the job for a function that is not offered. `option` of MILC's makefile makes MILC call it; "": none does.
void refuse(const char* function, const char* option);

// Runs the work of an entry point. `communicator()` is that of the host. No object is alive where end_host is called,
// so a terminate of the host may leave as it likes.
template <class Work, class Host>
void guarded(const char* function, const Host& communicator, const Work& work) {
  const auto fails = [&]() noexcept {
    const TeamArithmetic arithmetic;
    try {
      work();
      return false;
    } catch (const std::exception& failure) {
      keep_failure(function, words_of_failure(failure).text.c_str());
    } catch (...) {
      keep_failure(function, "an exception of unknown type");
    }
    return true;
  };
  if (fails()) end_host(communicator());
}

}  // namespace staghorn::milc
