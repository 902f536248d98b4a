// What this process is doing, noted by calls of a few nanoseconds, for whoever looks from outside: see Watchdog.
//
// The notes belong to the process, as its stack does, so they are the one thing here that is not passed along. Local.
#pragma once

#include <cstdint>
#include <string>

namespace staghorn {

// This process does `text` until the end of the scope; activities nest. Entering and leaving count as progress.
// `text` is kept as a pointer: a string literal. By the thread that calls MPI.
class Activity {
 public:
  explicit Activity(const char* text) noexcept;
  ~Activity();
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;
};

// Within its scope this process waits for others that may work for as long as they like.
class PatientWait {
 public:
  PatientWait() noexcept;
  ~PatientWait();
  PatientWait(const PatientWait&) = delete;
  PatientWait& operator=(const PatientWait&) = delete;
};

// For loops inside long activities. By any thread.
void made_progress() noexcept;

// How often progress was noted. By any thread.
std::uint64_t progress_count() noexcept;
bool waits_patiently() noexcept;
// What this process is doing, from the outermost: "CG iterations: sum over ranks"; "computing" where nothing is noted.
// By any thread.
std::string current_activity();

}  // namespace staghorn
