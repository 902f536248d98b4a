#include "halo/watch/forked.hpp"

#include <mpi.h>
#include <omp.h>
#include <pthread.h>

#include <atomic>
#include <exception>
#include <thread>

namespace staghorn {

namespace {

std::atomic<int> count{0};
std::atomic<bool> with_mpi{false};
thread_local bool this_thread = false;

void in_the_child() {
  ++count;
  this_thread = true;
  int started = 0, finished = 0;
  MPI_Initialized(&started);
  if (started) MPI_Finalized(&finished);
  if (started && !finished) with_mpi = true;
}

[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, in_the_child);

}  // namespace

int forks() noexcept { return count; }
bool mpi_is_of_the_parent() noexcept { return with_mpi; }

bool came_through_a_fork() noexcept { return this_thread; }

void run_on_a_thread_of_its_own(const std::function<void()>& work) {
  std::exception_ptr thrown;
  const int threads = omp_get_max_threads();
  std::thread([&] {
    omp_set_num_threads(threads);
    try {
      work();
    } catch (...) {
      thrown = std::current_exception();
    }
  }).join();
  if (thrown) std::rethrow_exception(thrown);
}

}  // namespace staghorn
