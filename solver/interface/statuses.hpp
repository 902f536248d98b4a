// From exceptions to the statuses of staghorn.h. Each C function runs its work in `guarded`: nothing leaves as an
// exception, and the text of an error stays with the thread. Local.
#pragma once

#include <staghorn.h>

#include <string>
#include <type_traits>

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

// The status of `work`, which returns one, or nothing where all is well. Throws what it throws.
template <class Work>
int status_of_work(const Work& work) {
  if constexpr (std::is_void_v<std::invoke_result_t<const Work&>>) {
    work();
    return STAGHORN_OK;
  } else {
    return work();
  }
}

// Runs `work` in the arithmetic of all calls, and returns its status or that of the exception that left it.
template <class Work>
int guarded(const Work& work) noexcept {
  const StandardArithmetic arithmetic;
  try {
    return with_living_threads([&] { return status_of_work(work); });
  } catch (...) {
    return status_of_current_exception();
  }
}

}  // namespace staghorn
