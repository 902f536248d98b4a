// How a call of MILC ends that cannot do its work: one line, then the host's way out.
#pragma once

#include <mpi.h>

#include <exception>
#include <stdexcept>
#include <string>

#include "halo/watch/arithmetic.hpp"
#include "halo/watch/failure_words.hpp"
#include "solver/interface/layouts/field_bytes.hpp"

namespace staghorn::milc {

class Failure : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Returns a status of staghorn.h that is no error; throws Failure with the text of one. Local.
int require(int status);
// Throws Failure: name, what was expected, what was found.
[[noreturn]] void refuse(const std::string& name, const std::string& expected, const std::string& found);
void require_pointer(const char* name, const void* pointer);
// Throws Failure unless first <= value <= last.
void require_choice(const char* name, int value, int first, int last);
// Throws Failure where memory that a call writes is that of another argument, too.
void require_own_memory(const CallMemory& memory);

// Keeps the line that end_host will write. Local.
void keep_failure(const char* function, const char* text) noexcept;

// Writes the line and ends the job: by the host's own terminate(1) if it has that function, as MILC has; else by
// MPI_Abort of `communicator` (MPI_COMM_NULL: of none), or exit. Rank 0 of it is first; the others wait a moment, so
// that an error of all ranks is one line.
void end_host(MPI_Comm communicator);

// Runs the work of an entry point. `communicator()` is that of the host. No object is alive where end_host is called,
// so a terminate of the host may leave as it likes.
template <class Work, class Host>
void guarded(const char* function, const Host& communicator, const Work& work) {
  const auto fails = [&]() noexcept {
    const TeamArithmetic arithmetic;
    try {
      work();
      return false;
    } catch (const Failure& failure) {
      keep_failure(function, failure.what());
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
