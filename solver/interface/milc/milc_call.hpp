// How a function that MILC calls runs, and the one connection of the process.
#pragma once

#include <cstdio>

#include "halo/watch/stopwatch.hpp"
#include "solver/interface/milc/connection.hpp"
#include "solver/interface/milc/failure.hpp"

namespace staghorn::milc {

// QUDA's interface has no handles. Never destroyed: at the end of the process MPI and CUDA may be gone before it.
Connection& host();

// Runs the work of a function of the interface; an error ends the job in the host's way.
template <class Work>
void run(const char* function, const Work& work) {
  guarded(
      function, [] { return host().communicator(); },
      [&] {
        host().require_own_process();
        work();
      });
}

// The same with a line of how long it took, where the host wants lines.
template <class Work>
void run_timed(const char* function, const Work& work) {
  run(function, [&] {
    const Stopwatch whole;
    work();
    if (!host().is_verbose()) return;
    std::printf("staghorn: %s: %.4f s in all\n", function, whole.seconds());
    std::fflush(stdout);
  });
}

}  // namespace staghorn::milc
