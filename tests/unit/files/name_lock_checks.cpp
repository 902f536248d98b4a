// Locks of names: who holds one, and what becomes of it when its owner is over.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <thread>

#include "halo/watch/error.hpp"
#include "lattice_io/names/name_lock.hpp"
#include "lattice_io/names/owner.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

namespace fs = std::filesystem;

// A folder that is removed at the end, with a file to be written in it, which does not exist.
struct Folder {
  fs::path path;
  Folder() {
    char name[] = "/tmp/staghorn-lock-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~Folder() { fs::remove_all(path); }
  std::string file() const { return (path / "x.h5").string(); }
  std::string lock() const { return (path / ".x.h5.lock").string(); }
  std::size_t files() const { return std::size_t(std::distance(fs::directory_iterator(path), {})); }
  void leave(const Owner& owner) const { std::ofstream(lock()) << text_of(owner); }
};

std::string failure_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// What `work` returns in a child of this process, which then ends without destructors.
int in_a_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool a_name_has_one_writer_among_threads_and_processes() {
  const Folder folder;
  const std::string name = folder.file();
  const NameLock held(name, name);
  const NameLock once_more(name, name);  // this thread may
  std::string by_thread;
  std::thread([&] { by_thread = failure_of([&] { const NameLock lock(name, name); }); }).join();
  const int by_child = in_a_child([&] { return failure_of([&] { const NameLock lock(name, name); }).empty(); });
  const std::string who = "process " + std::to_string(getpid()) + " on ";
  return CHECK(once_more.was_held()) && CHECK(!held.was_held()) && CHECK(holds(by_thread, who)) && CHECK(by_child == 0);
}

bool a_lock_goes_with_its_owner_and_not_with_a_child_of_it() {
  const Folder folder;
  const std::string name = folder.file();
  std::size_t during = 0;
  {
    std::optional<NameLock> lock(std::in_place, name, name);
    in_a_child([&] {
      lock.reset();
      return 0;
    });
    during = folder.files();
  }
  return CHECK(during == 1) && CHECK(folder.files() == 0);
}

bool a_lock_is_taken_over_where_its_owner_is_over() {
  const Folder folder;
  const std::string name = folder.file();
  Owner ended = this_thread();  // its number is in use again
  ended.start = "1";
  folder.leave(ended);
  const std::string again = failure_of([&] { const NameLock lock(name, name); });
  in_a_child([&] {
    new NameLock(name, name);  // never given up
    return 0;
  });
  const bool left = fs::exists(folder.lock());
  const std::string gone = failure_of([&] { const NameLock lock(name, name); });
  Owner before = this_thread();
  before.boot = "of another day";
  folder.leave(before);
  const std::string rebooted = failure_of([&] { const NameLock lock(name, name); });
  return CHECK(again == "") && CHECK(left) && CHECK(gone == "") && CHECK(rebooted == "") && CHECK(folder.files() == 0);
}

bool a_lock_of_another_host_or_container_stays_and_says_how_to_remove_it() {
  const Folder folder;
  const std::string name = folder.file();
  const auto refusal = [&](const std::function<void(Owner&)>& change) {
    Owner owner = this_thread();
    owner.start = "1";
    change(owner);
    folder.leave(owner);
    const std::string text = failure_of([&] { const NameLock lock(name, name); });
    return fs::exists(folder.lock()) ? text : "";
  };
  const std::string host = refusal([](Owner&owner) { owner.host = "node17"; }),
                    machine = refusal([](Owner&owner) { owner.machine += "0"; }),
                    container = refusal([](Owner&owner) { owner.processes = "pid:[1]"; });
  const std::string advice = "remove '" + folder.lock() + "'";
  return CHECK(holds(host, " on node17 (")) && CHECK(holds(host, advice)) && CHECK(holds(machine, advice)) &&
         CHECK(holds(container, advice));
}

// Slurm has started the job again, here, after its first host was lost.
bool a_lock_of_a_job_that_was_started_again_is_its_own() {
  const Folder folder;
  const std::string name = folder.file();
  const auto attempt = [&](const char* job, const char* starts) {
    Owner owner = this_thread();
    owner.host = "node17";
    owner.job = "cluster:77";
    owner.job_starts = 1;
    folder.leave(owner);
    ::setenv("SLURM_CLUSTER_NAME", "cluster", 1);
    ::setenv("SLURM_JOB_ID", job, 1);
    ::setenv("SLURM_RESTART_COUNT", starts, 1);
    const std::string text = failure_of([&] { const NameLock lock(name, name); });
    for (const char* variable : {"SLURM_CLUSTER_NAME", "SLURM_JOB_ID", "SLURM_RESTART_COUNT"}) ::unsetenv(variable);
    return text;
  };
  const std::string other = attempt("78", "2"), same = attempt("77", "1"), again = attempt("77", "2");
  return CHECK(holds(other, "node17")) && CHECK(holds(same, "node17")) && CHECK(again == "") &&
         CHECK(folder.files() == 0);
}

bool a_lock_that_says_nothing_is_refused_by_name() {
  const Folder folder;
  std::ofstream(folder.lock()) << "nothing\n";
  const std::string text = failure_of([&] { const NameLock lock(folder.file(), folder.file()); });
  return CHECK(holds(text, folder.lock())) && CHECK(holds(text, "remove it")) && CHECK(folder.files() == 1);
}

// Processes that take one name again and again, and often end without giving it up, so that the others take it over.
bool of_many_that_take_over_a_lock_one_has_it() {
  constexpr int children = 8, times = 60;
  const Folder folder;
  const std::string name = folder.file(), inside = (folder.path / "inside").string();
  int violations = 0, taken = 0, running = 0;
  for (int begun = 0; begun < children * times || running > 0;) {
    for (; running < children && begun < children * times; ++begun, ++running)
      if (::fork() == 0) {
        for (int attempt = 0; attempt < 2000; ++attempt) {
          try {
            NameLock* const lock = new NameLock(name, name);
            const int own = ::open(inside.c_str(), O_CREAT | O_EXCL, 0600);
            if (own < 0) ::_exit(1);
            ::usleep(200);
            ::unlink(inside.c_str());
            if (getpid() % 4 == 0) delete lock;
            ::_exit(0);
          } catch (const Error&) {
            ::usleep(500);
          }
        }
        ::_exit(2);
      }
    int status = 0;
    if (::wait(&status) < 0) break;
    --running;
    violations += !WIFEXITED(status) || WEXITSTATUS(status) == 1;
    taken += WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  return CHECK(violations == 0) && CHECK(taken == children * times);
}

}  // namespace

std::vector<UnitCheck> name_lock_checks() {
  return {UNIT_CHECK(a_name_has_one_writer_among_threads_and_processes),
          UNIT_CHECK(a_lock_goes_with_its_owner_and_not_with_a_child_of_it),
          UNIT_CHECK(a_lock_is_taken_over_where_its_owner_is_over),
          UNIT_CHECK(a_lock_of_another_host_or_container_stays_and_says_how_to_remove_it),
          UNIT_CHECK(a_lock_of_a_job_that_was_started_again_is_its_own),
          UNIT_CHECK(a_lock_that_says_nothing_is_refused_by_name),
          UNIT_CHECK(of_many_that_take_over_a_lock_one_has_it)};
}

}  // namespace staghorn
