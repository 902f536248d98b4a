#include "halo/child/bounded_child.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "halo/watch/activity.hpp"
#include "halo/watch/error.hpp"

extern char** environ;

namespace staghorn {

namespace {

constexpr char whole = '.';  // behind what was handed back

std::string contents(int descriptor) {
  std::string text;
  char piece[65536];
  for (off_t at = 0;;) {
    const ssize_t n = ::pread(descriptor, piece, sizeof piece, at);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text.append(piece, std::size_t(n));
    at += n;
  }
  if (text.empty() || text.back() != whole) return "";
  text.pop_back();
  return text;
}

std::string words_of_end(int status) {
  if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGALRM)) return "did not end in time";
  if (WIFSIGNALED(status))
    return "ended by signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
  return "ended with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

ChildResult run_bounded_child(const std::string& program, std::vector<std::string> words) {
  const int descriptor = ::memfd_create("staghorn", 0);  // the child inherits it
  if (descriptor < 0) throw LocalError("a file in memory for a child process: " + std::string(std::strerror(errno)));
  words.insert(words.begin(), program);
  words.push_back(std::to_string(descriptor));
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failure = ::posix_spawn(&child, program.c_str(), nullptr, nullptr, arguments.data(), environ);
  int status = 0;
  for (useconds_t pause = 100; failure == 0; pause = std::min(2 * pause, useconds_t{20000})) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child || (ended < 0 && errno != EINTR)) break;
    ::usleep(pause);
    made_progress();  // the child is bounded in time
  }
  ChildResult result{failure == 0 ? contents(descriptor) : "", ""};
  ::close(descriptor);
  if (failure != 0) throw LocalError(program + " could not be started: " + std::strerror(failure));
  if (result.output.empty()) result.end = words_of_end(status);
  return result;
}

void bound_this_child(long seconds, std::int64_t more_bytes) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGXCPU, SIG_DFL);
  ::signal(SIGALRM, SIG_DFL);
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto limit = [](int what, std::uint64_t value) {
    rlimit now{};
    ::getrlimit(__rlimit_resource_t(what), &now);
    now.rlim_cur = std::min<std::uint64_t>(value, now.rlim_max);
    ::setrlimit(__rlimit_resource_t(what), &now);
  };
  limit(RLIMIT_CPU, std::uint64_t(used.ru_utime.tv_sec + used.ru_stime.tv_sec + seconds + 1));
  ::alarm(unsigned(10 * seconds));
  limit(RLIMIT_CORE, 0);
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  if (more_bytes > 0) limit(RLIMIT_AS, pages * std::uint64_t(::sysconf(_SC_PAGESIZE)) + std::uint64_t(more_bytes));
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int standard = 0; nothing >= 0 && standard < 3; ++standard) ::dup2(nothing, standard);
}

void hand_back(int descriptor, const std::string& output) {
  const std::string text = output + whole;
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = ::pwrite(descriptor, text.data() + done, text.size() - done, off_t(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    done += std::size_t(n);
  }
}

std::string program_beside_this_library() {
  const auto is_program = [](const std::string& name) {
    struct stat about;
    return ::stat(name.c_str(), &about) == 0 && S_ISREG(about.st_mode) && ::access(name.c_str(), X_OK) == 0;
  };
  std::error_code none;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", none);
  if (self.filename() == "staghorn" && is_program(self)) return "/proc/self/exe";
  Dl_info here{};
  if (::dladdr(reinterpret_cast<const void*>(&program_beside_this_library), &here) == 0 || !here.dli_fname) return "";
  const std::filesystem::path folder = std::filesystem::absolute(here.dli_fname, none).parent_path();
  for (const char* name : {"staghorn", "bin/staghorn", "../bin/staghorn", "../../staghorn"})
    if (is_program(folder / name)) return folder / name;
  return "";
}

}  // namespace staghorn
