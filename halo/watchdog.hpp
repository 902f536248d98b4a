// Ends a run in which nothing happens any more, instead of letting it hang.
//
// A thread of each process looks at the progress that Activity notes. The ranks of a host see each other's through
// shared memory: a rank that waits for one that works is not stuck, and is left alone. When no rank of the host has
// made progress for the limit, each prints what it is doing, one speaks for those that do not answer, and the job ends.
// Only the program makes a Watchdog; in a host program (Python, C) nothing here ends a process.
#pragma once

#include <memory>

#include "halo/communicator.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

// A rank that another waited for in vain.
class Stalled : public LocalError {
 public:
  using LocalError::LocalError;
};

// Seconds without progress after which a run counts as stuck, and after which a kernel of a GPU gives up its wait for
// another rank: STAGHORN_WATCHDOG, or 600; 0 for never. A Watchdog's own limit takes the place of both. Local.
double patience_seconds();
// The same for kernels, in nanoseconds, where never is a very long time.
long long patience_nanoseconds();

class Watchdog {
 public:
  // Watches until it is destroyed; with a limit of 0 it does nothing. A job that it ends has `exit_status`. Collective.
  Watchdog(const Communicator& communicator, double limit_seconds, int exit_status);
  // Local: an error on one rank may be on its way out.
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
