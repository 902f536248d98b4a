// A child process that does what may kill a process or never end, as reading a damaged file with a library of others.
// It is started by posix_spawn, which copies nothing of its parent, and has no part in MPI. Local.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace staghorn {

struct ChildResult {
  std::string output;  // what it handed back; "" where it did not come to that
  std::string end;     // else how it ended: "ended by signal 11 (Segmentation fault)"
};

// Runs `program` with `words`, behind them the number of a file descriptor for hand_back, and waits for its end. Throws
// Error if it cannot be started.
ChildResult run_bounded_child(const std::string& program, std::vector<std::string> words);

// In the child. It may take so many seconds of processor time from now on, ten times as long by the clock, and so many
// bytes of memory more; it says nothing to the terminal, leaves no core and ends with its parent.
void bound_this_child(long seconds, std::int64_t more_bytes);
// Hands the result to the parent, which takes it for whole only then.
void hand_back(int descriptor, const std::string& output);

// The program `staghorn` to which this code belongs, or that stands beside this library as it was built or installed;
// "" where there is none.
std::string program_beside_this_library();

}  // namespace staghorn
