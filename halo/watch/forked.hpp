// A child that was forked, of a process that has used this library or not: it has one thread, and OpenMP, MPI and CUDA
// believe that all is as it was in the parent. OpenMP would wait for threads that are not there; MPI and CUDA cannot be
// used. A child that has started another program (exec) is not concerned. Local.
#pragma once

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

namespace staghorn {

// How often this process and those it comes from were forked since the library was loaded.
int forks() noexcept;
// Whether MPI ran when this child was forked: then it is the parent's.
bool mpi_is_of_the_parent() noexcept;

// Whether the calling thread came through a fork: OpenMP may believe that it has a team.
bool came_through_a_fork() noexcept;
// Calls `work` on a thread for which OpenMP makes new ones, as many as the calling thread would have.
void run_on_a_thread_of_its_own(const std::function<void()>& work);

// Calls `work`, which may use OpenMP; on a thread of its own where the calling one came through a fork. Throws what it
// throws.
template <class Work>
auto with_living_threads(const Work& work) {
  if (!came_through_a_fork()) return work();
  using Result = decltype(work());
  if constexpr (std::is_void_v<Result>) {
    run_on_a_thread_of_its_own(work);
  } else {
    std::optional<Result> result;
    run_on_a_thread_of_its_own([&] { result.emplace(work()); });
    return Result(std::move(*result));
  }
}

}  // namespace staghorn
