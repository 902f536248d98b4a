// What this process is doing, noted by calls of a few nanoseconds. A Watchdog reads the notes.
//
// The notes belong to the process and its threads, as their stacks do. So they are the one thing here that is not
// passed along. Local.
#pragma once

#include <cstdint>
#include <string>

namespace staghorn {

// The calling thread does `text` until the end of the scope. Activities of a thread nest. Each thread has notes of its
// own. Entering and leaving count as progress. `text` is kept as a pointer: pass a string literal.
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

// Notes progress inside a long activity. By any thread.
void made_progress() noexcept;

// How often progress was noted. By any thread.
std::uint64_t progress_count() noexcept;
// Whether some thread is inside a PatientWait. By any thread.
bool waits_patiently() noexcept;
// What this process is doing, from the outermost activity to the innermost: "CG iterations: sum over ranks". Several
// threads are separated by "; ", in the order in which they first noted an activity. "computing" if no thread has noted
// any. By any thread.
std::string current_activity();

}  // namespace staghorn
