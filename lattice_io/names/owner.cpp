#include "lattice_io/names/owner.hpp"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <random>
#include <sstream>
#include <vector>

#include "lattice_io/names/small_file.hpp"

namespace staghorn {

namespace {

// "" where the file cannot be read: the process that it is about may end at this moment.
std::string content(const std::string& file) { return small_file(file).value_or(""); }

std::string first_word(const std::string& file) {
  std::istringstream words(content(file));
  std::string word;
  words >> word;
  return word;
}

std::string link_text(const char* path) {
  std::error_code error;
  return std::filesystem::read_symlink(path, error).string();
}

// Whether /proc counts processes as this process does. A container may see the /proc of its host.
bool proc_is_ours() { return link_text("/proc/self") == std::to_string(getpid()); }

struct ThreadStatus {
  char state = '?';   // 'Z', 'X': over
  std::string start;  // ticks since the boot
};

// What /proc says of a thread; nothing where it does not know it, or may not say.
std::optional<ThreadStatus> status_of(long process, long thread) {
  const std::string stat = content("/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) + "/stat");
  const std::size_t name_ends = stat.rfind(')');  // the name may hold anything
  if (name_ends == std::string::npos) return std::nullopt;
  std::istringstream rest(stat.substr(name_ends + 1));
  std::vector<std::string> words;
  for (std::string word; rest >> word;) words.push_back(word);
  constexpr std::size_t start = 19;  // field 22 of proc(5); the state is field 3
  if (words.size() <= start) return std::nullopt;
  return ThreadStatus{words[0][0], words[start]};
}

std::string random_mark() {
  std::random_device random;
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "%08x%08x", random(), random());
  return text.data();
}

std::string now_in_utc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, 24> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
  return text.data();
}

// The words of the command line in plain letters, cut where they are long.
std::string command_line() {
  constexpr std::size_t longest = 160;
  std::string text = content("/proc/self/cmdline");
  while (!text.empty() && text.back() == '\0') text.pop_back();
  for (char& letter : text)
    if (letter == '\0')
      letter = ' ';
    else if (letter < ' ' || letter > '~')
      letter = '?';
  return text.size() <= longest ? text : text.substr(0, longest) + " ...";
}

}  // namespace

Owner this_thread() {
  Owner owner;
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) == 0) owner.host = name.data();
  owner.machine = first_word("/etc/machine-id");
  owner.boot = first_word("/proc/sys/kernel/random/boot_id");
  owner.processes = link_text("/proc/self/ns/pid");
  owner.process = getpid();
  owner.thread = syscall(SYS_gettid);
  if (proc_is_ours())
    if (const auto status = status_of(owner.process, owner.thread)) owner.start = status->start;
  const auto variable = [](const char* name) {
    const char* text = std::getenv(name);
    return std::string(text ? text : "");
  };
  if (const std::string id = variable("SLURM_JOB_ID"); !id.empty())
    owner.job = variable("SLURM_CLUSTER_NAME") + ":" + id;
  owner.job_starts = std::atol(variable("SLURM_RESTART_COUNT").c_str());
  owner.mark = random_mark();
  owner.since = now_in_utc();
  owner.command = command_line();
  return owner;
}

bool is_this_thread(const Owner& owner) {
  Owner here = this_thread();
  here.mark = owner.mark;
  here.since = owner.since;
  here.command = owner.command;
  return here == owner;
}

Life life_of(const Owner& owner) {
  const Owner here = this_thread();
  if (!owner.job.empty() && owner.job == here.job && owner.job_starts < here.job_starts) return Life::over;
  if (owner.host != here.host || owner.machine != here.machine) return Life::elsewhere;
  if (owner.boot != here.boot) return Life::over;
  if (owner.processes != here.processes) return Life::elsewhere;
  const bool may_ask = ::kill(pid_t(owner.process), 0) == 0;
  if (!may_ask && errno == ESRCH) return Life::over;
  if (owner.start.empty() || !proc_is_ours()) return Life::alive;
  const std::optional<ThreadStatus> found = status_of(owner.process, owner.thread);
  if (!found) return may_ask ? Life::over : Life::alive;  // processes of other users may be hidden
  const bool ended = found->state == 'Z' || found->state == 'X';
  return ended || found->start != owner.start ? Life::over : Life::alive;
}

std::string text_of(const Owner& owner) {
  std::ostringstream text;
  text << "A lock of Staghorn: the thread below writes to the name of this file.\n"
       << "host " << owner.host << "\nmachine " << owner.machine << "\nboot " << owner.boot << "\nprocesses "
       << owner.processes << "\nprocess " << owner.process << "\nthread " << owner.thread << "\nstart " << owner.start
       << "\njob " << owner.job << "\njob_starts " << owner.job_starts << "\nmark " << owner.mark << "\nsince "
       << owner.since << "\ncommand " << owner.command << "\nend\n";
  return text.str();
}

std::optional<Owner> owner_of(const std::string& text) {
  Owner owner;
  std::istringstream lines(text);
  bool is_whole = false;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t blank = line.find(' ');
    const std::string name = line.substr(0, blank), value = blank == std::string::npos ? "" : line.substr(blank + 1);
    is_whole = is_whole || line == "end";
    for (const auto& [entry, place] :
         {std::pair{"host", &owner.host}, std::pair{"machine", &owner.machine}, std::pair{"boot", &owner.boot},
          std::pair{"processes", &owner.processes}, std::pair{"start", &owner.start}, std::pair{"job", &owner.job},
          std::pair{"mark", &owner.mark}, std::pair{"since", &owner.since}, std::pair{"command", &owner.command}})
      if (name == entry) *place = value;
    for (const auto& [entry, place] : {std::pair{"process", &owner.process}, std::pair{"thread", &owner.thread},
                                       std::pair{"job_starts", &owner.job_starts}})
      if (name == entry) *place = std::atol(value.c_str());
  }
  const bool mark_is_word = owner.mark.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!is_whole || owner.process <= 0 || owner.mark.empty() || !mark_is_word) return std::nullopt;
  return owner;
}

std::string describe(const Owner& owner) {
  return "process " + std::to_string(owner.process) + " on " + owner.host + " (" +
         (owner.command.empty() ? "" : owner.command + ", ") + "since " + owner.since + ")";
}

}  // namespace staghorn
