// How long an OpenMP thread that waits for another keeps its core busy.
//
// By default a thread of libgomp spins for several milliseconds before it sleeps. If another process uses a core, then
// a thread spins at the end of every loop until its partner gets the core back: two threads are 10 to 20 times slower
// than one. With a short spin the waiting thread sleeps, and its partner moves to the free core. libgomp reads the
// length of the spin from the environment when it is loaded, which is before main().
#pragma once

namespace staghorn {

// Looks a waiting thread takes before it sleeps (GOMP_SPINCOUNT): some 50 microseconds, longer than the pauses between
// the loops of a solve. python/staghorn/compiled_modules.py has the same number.
inline constexpr const char* short_spin = "1000";

// Starts this program again with GOMP_SPINCOUNT=short_spin, in this process and with these arguments. Does nothing if
// the environment has GOMP_SPINCOUNT, OMP_WAIT_POLICY or OMP_NUM_THREADS=1, or if the system refuses. Call it first in
// main(), before MPI is initialised. Local.
void shorten_spin_of_waiting_threads(char** arguments);

}  // namespace staghorn
