// Ends a run in which nothing happens any more.
//
// A thread of each process looks at the progress that Activity notes. The ranks of a host see the progress of each
// other through shared memory. A rank that waits for a working rank is not stuck. If no rank of the host has made
// progress for the limit, each prints what it is doing, one of them speaks for ranks that do not answer, and the job
// ends. Only the program makes a Watchdog. In a host program (Python, C) this code ends no process.
#pragma once

#include <memory>

#include "halo/communicator.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

// Another rank did not answer in time.
class Stalled : public LocalError {
 public:
  using LocalError::LocalError;
};

// Seconds without progress after which a run counts as stuck, and after which a kernel of a GPU gives up its wait for
// another rank. It is the limit of the Watchdog that runs, else STAGHORN_WATCHDOG, else 600. 0 means never. Local.
double patience_seconds();
// The same in nanoseconds, for kernels. For "never" it is a very long time.
long long patience_nanoseconds();

class Watchdog {
 public:
  // Watches until it is destroyed. With a limit of 0 it does nothing. It ends a job with `exit_status`. Collective.
  Watchdog(const Communicator& communicator, double limit_seconds, int exit_status);
  // Local, because it also runs when an error has occurred on one rank.
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  class Watch;
  std::unique_ptr<Watch> watch_;
};

// Ends all processes of the job; does not return, whatever MPI does. Local.
[[noreturn]] void end_job(const Communicator& communicator, int exit_status);

}  // namespace staghorn
