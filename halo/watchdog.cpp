#include "halo/watchdog.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <stop_token>
#include <thread>

#include "halo/watch/activity.hpp"

namespace staghorn {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double default_patience = 600, no_limit = 1e9;

std::atomic<double> patience_of_watchdog{-1};  // of the watchdog that runs; negative if none runs

// What the ranks of a host show each other.
struct Slot {
  std::atomic<std::uint64_t> progress;
  std::atomic<int> rank, is_patient, has_spoken, has_left;
  char activity[112];  // other ranks read it if this rank does not answer
};

// Memory that the ranks of a host share. If the system refuses, each rank has memory of its own. Its name is removed
// before it is used, so nothing is left if a process dies.
class SharedSlots {
 public:
  explicit SharedSlots(const Communicator& host) : count_(host.size()), own_(host.rank()) {
    long creator = ::getpid();
    host.broadcast(&creator, sizeof creator);
    const std::string name = "/staghorn-watchdog-" + std::to_string(creator);
    int file = -1;
    if (host.is_root()) file = open(name, O_CREAT | O_EXCL | O_RDWR);
    host.barrier();
    if (!host.is_root()) file = open(name, O_RDWR);
    const bool refused = host.any(file < 0);
    if (host.is_root()) ::shm_unlink(name.c_str());
    if (refused) {
      count_ = 1;
      own_ = 0;
    }
    const int sharing = refused ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void* memory = ::mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, sharing, refused ? -1 : file, 0);
    if (file >= 0) ::close(file);
    if (memory == MAP_FAILED) throw Error("watchdog: the system gives no memory");
    slots_ = static_cast<Slot*>(memory);
  }
  ~SharedSlots() { ::munmap(slots_, bytes()); }
  SharedSlots(const SharedSlots&) = delete;

  int count() const { return count_; }
  Slot& operator[](int i) const { return slots_[i]; }
  Slot& own() const { return slots_[own_]; }

 private:
  std::size_t bytes() const { return std::size_t(count_) * sizeof(Slot); }
  int open(const std::string& name, int flags) const {
    const int file = ::shm_open(name.c_str(), flags, 0600);
    if (file >= 0 && (flags & O_CREAT) && ::posix_fallocate(file, 0, off_t(bytes())) != 0) {
      ::close(file);
      return -1;
    }
    return file;
  }

  int count_, own_;
  Slot* slots_ = nullptr;
};

Communicator ranks_of_host(const Communicator& communicator) {
  if (communicator.is_alone()) return {};
  MPI_Comm host = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split_type(communicator.handle(), MPI_COMM_TYPE_SHARED, communicator.rank(), MPI_INFO_NULL, &host),
            "MPI_Comm_split_type");
  Communicator result(host);
  MPI_Comm_free(&host);
  return result;
}

void say(const std::string& text) {  // one write, so that lines of several ranks do not mix
  const std::string line = "staghorn: " + text + "\n";
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace

double patience_seconds() {
  const double limit = patience_of_watchdog.load();
  if (limit >= 0) return limit;
  const char* text = std::getenv("STAGHORN_WATCHDOG");
  if (!text || !*text) return default_patience;
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (*end != '\0' || !(seconds >= 0)) throw Error("STAGHORN_WATCHDOG", "seconds, or 0 for no limit", text);
  return seconds;
}

long long patience_nanoseconds() {
  const double seconds = patience_seconds();
  return (long long)(1e9 * (seconds > 0 ? std::min(seconds, no_limit) : no_limit));
}

class Watchdog::Watch {
 public:
  Watch(const Communicator& communicator, double limit, int exit_status)
      : communicator_(communicator),
        limit_(limit),
        exit_status_(exit_status),
        slots_(ranks_of_host(communicator)),
        thread_([this](std::stop_token stop) { watch(stop); }) {}
  ~Watch() { slots_.own().has_left = 1; }

 private:
  void watch(std::stop_token stop) {
    const double interval = std::clamp(limit_ / 20, 0.01, 1.0);
    slots_.own().rank = communicator_.rank();
    std::uint64_t seen = 0;
    double idle = 0;
    for (Clock::time_point before = Clock::now(); !pause(stop, interval);) {
      show();
      const Clock::time_point now = Clock::now();
      // The time during which this process was suspended does not count.
      const double passed = std::min(std::chrono::duration<double>(now - before).count(), limit_ / 4);
      before = now;
      const std::uint64_t all = progress_of_all();
      idle = all == seen && !all_are_patient() ? idle + passed : 0;
      seen = all;
      if (idle >= limit_) end(stop, idle);
    }
  }

  // Every rank speaks for itself. The first rank that can also speaks for those that cannot, and ends the job.
  void end(std::stop_token stop, double idle) {
    const double grace = std::clamp(limit_ / 2, 1.0, 5.0);
    say("rank " + std::to_string(communicator_.rank()) + ": no progress for " + three_digits(idle) + " s during '" +
        current_activity() + "'");
    slots_.own().has_spoken = 1;
    const auto silent = [this](const Slot& slot) { return !slot.has_spoken && !slot.has_left; };
    const Clock::time_point start = Clock::now();
    while (std::chrono::duration<double>(Clock::now() - start).count() < grace) {
      if (pause(stop, 0.02)) return;
    }
    bool first = true;
    for (int i = 0; &slots_[i] != &slots_.own(); ++i) first = first && !slots_[i].has_spoken;
    if (!first && pause(stop, grace)) return;
    for (int i = 0; i < slots_.count(); ++i)
      if (silent(slots_[i]))
        say("rank " + std::to_string(slots_[i].rank) + ": does not answer; last seen during '" + slots_[i].activity +
            "'");
    end_job(communicator_, exit_status_);
  }

  void show() {
    Slot& own = slots_.own();
    own.progress = progress_count();
    own.is_patient = waits_patiently();
    const std::string activity = current_activity();
    const std::size_t length = std::min(activity.size(), sizeof own.activity - 1);
    std::memcpy(own.activity, activity.data(), length);
    own.activity[length] = '\0';
  }

  std::uint64_t progress_of_all() const {
    std::uint64_t sum = 0;
    for (int i = 0; i < slots_.count(); ++i) sum += slots_[i].progress;
    return sum;
  }

  // If all are patient, then the ranks that work are on other hosts.
  bool all_are_patient() const {
    bool all = true;
    for (int i = 0; i < slots_.count(); ++i) all = all && (slots_[i].is_patient || slots_[i].has_left);
    return all && slots_.own().is_patient;
  }

  // Sleeps. True if the watch is over.
  bool pause(std::stop_token stop, double seconds) {
    std::unique_lock lock(mutex_);
    awake_.wait_for(lock, stop, std::chrono::duration<double>(seconds), [&] { return stop.stop_requested(); });
    return stop.stop_requested();
  }

  const Communicator& communicator_;
  double limit_;
  int exit_status_;
  SharedSlots slots_;
  std::mutex mutex_;
  std::condition_variable_any awake_;
  std::jthread thread_;  // declared last: it uses all other members
};

Watchdog::Watchdog(const Communicator& communicator, double limit_seconds, int exit_status) {
  patience_of_watchdog = limit_seconds;
  if (limit_seconds > 0) watch_ = std::make_unique<Watch>(communicator, limit_seconds, exit_status);
}

Watchdog::~Watchdog() { patience_of_watchdog = -1; }

void end_job(const Communicator& communicator, int exit_status) {
  if (communicator.size() > 1) {
    std::signal(SIGALRM, SIG_DFL);  // whoever started this process may have ignored it
    ::alarm(10);                    // ends this process, and so the job, if MPI cannot
    MPI_Abort(communicator.handle(), exit_status);
  }
  ::_exit(exit_status);
}

}  // namespace staghorn
