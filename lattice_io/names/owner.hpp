// Who holds a lock: a thread of a process, described so that another process can see whether it still lives. Local.
#pragma once

#include <optional>
#include <string>

namespace staghorn {

struct Owner {
  std::string host;       // its name
  std::string machine;    // tells hosts of one name apart; may be empty
  std::string boot;       // of the host; another one since the host was started anew
  std::string processes;  // the namespace in which `process` counts: containers of one host have their own
  long process = 0, thread = 0;
  std::string start;    // of the thread, in ticks since the boot; empty where the system does not tell
  std::string job;      // of Slurm, with its cluster; empty outside
  long job_starts = 0;  // how often Slurm has started that job again, on whatever host
  std::string mark;     // random: no two owners have the same
  std::string since;    // UTC
  std::string command;

  bool operator==(const Owner&) const = default;
};

// This thread, with a new mark.
Owner this_thread();

// `elsewhere`: on another host or in another container, of which this process sees nothing. A job that Slurm has
// started again is over as it was before, wherever that was.
enum class Life { alive, over, elsewhere };
Life life_of(const Owner& owner);
bool is_this_thread(const Owner& owner);

// A line for each entry, and back; nothing where `text` does not describe an owner.
std::string text_of(const Owner& owner);
std::optional<Owner> owner_of(const std::string& text);

// "process 4242 on node17 (staghorn solve ..., since 2026-11-28T01:14:04Z)"
std::string describe(const Owner& owner);

}  // namespace staghorn
