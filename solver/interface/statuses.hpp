// From exceptions to the statuses of staghorn.h. Each C function runs its work in `guarded`: nothing leaves as an
// exception, and the text of an error stays with the thread. Local.
#pragma once

#include <staghorn.h>

#include <string>

#include "halo/watch/arithmetic.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/forked.hpp"
#include "solver/report/solve_report.hpp"

namespace staghorn {

int status_of(ErrorKind kind);
int status_of(Outcome outcome);
ErrorKind kind_of(int status);  // of an error

// The status of the exception that is being handled; its text becomes that of staghorn_last_error.
int status_of_current_exception() noexcept;

// The text of the last error in this thread; "" before the first.
const char* last_error_text() noexcept;

// Runs `work`, which returns a status, in the arithmetic of all calls.
template <class Work>
int guarded(const Work& work) noexcept {
  const StandardArithmetic arithmetic;
  try {
    return with_living_threads(work);
  } catch (...) {
    return status_of_current_exception();
  }
}

}  // namespace staghorn
