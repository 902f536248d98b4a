#include "solver/interface/handles.hpp"

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include "halo/cuda/cuda_device.hpp"
#include "halo/watch/alarm.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/forked.hpp"
#include "halo/watch/stopwatch.hpp"

namespace staghorn {

namespace {

template <class Handle, class Held>
class HandleTable {
 public:
  HandleTable(const char* name, std::uintptr_t first) : name_(name), next_(first) {}

  Handle* add(std::shared_ptr<Held> held) {
    const std::lock_guard lock(mutex_);
    auto* handle = reinterpret_cast<Handle*>(next_);
    next_ += 16;  // as a real pointer would look
    held_.emplace(handle, std::move(held));
    return handle;
  }
  std::shared_ptr<Held> find(const Handle* handle) {
    if (!handle) throw Error(ErrorKind::argument, name_, "a handle", "NULL");
    const std::lock_guard lock(mutex_);
    const auto found = held_.find(handle);
    if (found == held_.end()) throw Error(ErrorKind::state, name_, "a handle that lives", "one that does not");
    return found->second;
  }
  template <class Condition>
  std::vector<std::shared_ptr<Held>> all_that(const Condition& holds) {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<Held>> found;
    for (const auto& [handle, held] : held_)
      if (holds(*held)) found.push_back(held);
    return found;
  }
  void drop(const Handle* handle) {
    const std::lock_guard lock(mutex_);
    held_.erase(handle);
  }

 private:
  const char* name_;
  std::mutex mutex_;
  std::uintptr_t next_;
  std::map<const Handle*, std::shared_ptr<Held>> held_;
};

// Never destroyed: at the end of the process MPI and CUDA may be gone before what is left here.
HandleTable<staghorn_context, HeldContext>& contexts() {
  static auto* table = new HandleTable<staghorn_context, HeldContext>("context", 16);
  return *table;
}
HandleTable<staghorn_gauge, HeldGauge>& gauges() {
  static auto* table = new HandleTable<staghorn_gauge, HeldGauge>("gauge", 24);
  return *table;
}
HandleTable<staghorn_words, HeldWords>& words() {
  static auto* table = new HandleTable<staghorn_words, HeldWords>("request.words", 20);
  return *table;
}

// A context of several ranks that this thread may enter. Those of other threads are none of its business. Local.
bool can_be_entered(const HeldContext& held) {
  if (held.thread != std::this_thread::get_id() || held.in_use) return false;
  const Alarm* const alarm = held.context->communicator().alarm();
  if (!alarm || alarm->is_lost() || mpi_is_of_the_parent()) return false;
  int finalised = 0;
  MPI_Finalized(&finalised);
  return !finalised;
}

// Whether other ranks of the context wait for this one. Local.
bool is_awaited(HeldContext& held) {
  const Claim claim(held);
  const Communicator& all = held.context->communicator();
  return all.alarm()->is_awaited({all.handle(), all.rank(), all.size()});
}

// What was made from links is made again, on all ranks.
void forget_derived(const HeldContext& held) {
  for (staghorn_gauge* handle : held.gauges) {
    const auto gauge = held_by(handle);
    gauge->gauge->forget_derived();
    gauge->links.links.generation = 0;  // ranks may differ in what they have read: the next update reads again
  }
}

// Whether one rank may have failed for a reason of its own, while others have made what it has not.
bool leaves_ranks_unlike(ErrorKind kind) {
  return kind == ErrorKind::memory || kind == ErrorKind::device || kind == ErrorKind::mpi ||
         kind == ErrorKind::internal;
}

// Like run_together, where ranks are in the same call. Throws RefusedBefore on all ranks where they are not.
// Collective.
int run_once(HeldContext& held, const std::function<int()>& work) {
  const Claim claim(held);
  std::optional<Context::Scope> scope;
  const auto work_within = [&] {
    scope.emplace(*held.context);  // fails on a rank alone, perhaps
    return work();
  };
  Alarm* const alarm = held.context->communicator().alarm();
  if (!alarm) return work_within();
  try {
    return alarm->guard(std::cref(work_within), [&] {
      forget_derived(held);
      held.context->renew_communicator();
    });
  } catch (const Error& error) {
    if (leaves_ranks_unlike(error.kind())) forget_derived(held);
    throw;
  }
}

// One more call that this rank ended alone, in all these contexts but one. Local.
void count_alone(const std::vector<std::shared_ptr<HeldContext>>& shared, const std::shared_ptr<HeldContext>& but) {
  for (const auto& held : shared)
    if (held != but) ++held->context->communicator().alarm()->calls_alone;
}

// Throws `refused` on all ranks of the context where others wait for this one, if there is one in time.
void refuse_together(const Error& refused) {
  const auto shared = contexts().all_that(can_be_entered);
  for (const Stopwatch waiting; !shared.empty() && waiting.seconds() < Alarm::seconds_for_others;) {
    for (const auto& held : shared) {
      if (!is_awaited(*held)) continue;
      try {
        run_once(*held, [&]() -> int {
          refuse_alike(held->context->communicator(), refused);
          return 0;
        });
      } catch (const RefusedBefore&) {
        return count_alone(shared, held);  // which counts what others have counted
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  count_alone(shared, nullptr);
}

template <class Handle>
auto found_together(const Handle* handle) {
  try {
    return held_by(handle);
  } catch (const Error& error) {
    refuse_together(error);
    throw;
  }
}

}  // namespace

staghorn_context* make_handle(std::shared_ptr<HeldContext> held) { return contexts().add(std::move(held)); }
staghorn_gauge* make_handle(std::shared_ptr<HeldGauge> held) { return gauges().add(std::move(held)); }
staghorn_words* make_handle(std::shared_ptr<HeldWords> held) { return words().add(std::move(held)); }
std::shared_ptr<HeldContext> held_by(const staghorn_context* handle) { return contexts().find(handle); }
std::shared_ptr<HeldGauge> held_by(const staghorn_gauge* handle) { return gauges().find(handle); }
std::shared_ptr<HeldWords> held_by(const staghorn_words* handle) { return words().find(handle); }
std::shared_ptr<HeldContext> held_together(const staghorn_context* handle) { return found_together(handle); }
std::shared_ptr<HeldGauge> held_together(const staghorn_gauge* handle) { return found_together(handle); }
void drop_handle(const staghorn_context* handle) { contexts().drop(handle); }
void drop_handle(const staghorn_gauge* handle) { gauges().drop(handle); }
void drop_handle(const staghorn_words* handle) { words().drop(handle); }

void HeldGauge::make_fields(std::size_t n_sources, std::size_t n_solutions, MemorySpace space) {
  const Lattice& lattice = context->context->lattice();
  const auto make = [&](std::vector<VectorField>& fields, std::size_t n) {
    if (!fields.empty() && fields.front().space() != space) fields.clear();
    if (fields.size() > n) fields.erase(fields.begin() + std::ptrdiff_t(n), fields.end());
    fields.reserve(n);
    while (fields.size() < n) fields.emplace_back(lattice, space);
  };
  make(sources, n_sources);
  make(solutions, n_solutions);
}

void HeldGauge::make_a_field(MemorySpace space) {
  const auto count = [&](const std::vector<VectorField>& fields) {
    return fields.empty() || fields.front().space() != space ? std::size_t{1} : fields.size();
  };
  make_fields(count(sources), count(solutions), space);
}

void HeldGauge::await_host() const { cuda::wait_for_stream(context->options.stream); }

void agree_on(const HeldGauge& held, const char* call, const std::function<void(Asked&)>& read) {
  agree_alike(held.ranks(), call, [&](Asked& asked) {
    asked.add("gauge", held.number);
    if (!held.gauge->links().are_there())
      throw Error(ErrorKind::state, "gauge", "links", "none, since the last update was refused");
    read(asked);
  });
}

Claim::Claim(HeldContext& held) : held_(held) {
  held.context->require_own_process();
  if (held.main_thread_only) {
    int is_main = 0;
    MPI_Is_thread_main(&is_main);
    if (!is_main)
      throw Error(ErrorKind::state, "thread", "the one that started MPI, as MPI allows no other", "another thread");
  }
  if (held.in_use.exchange(true)) throw Error(ErrorKind::state, "context", "one call at a time", "a second call");
  held.thread = std::this_thread::get_id();
}

Claim::~Claim() { held_.in_use = false; }

int run_together(HeldContext& held, const std::function<int()>& work) {
  for (;;) {
    try {
      return run_once(held, work);
    } catch (const RefusedBefore&) {  // by a rank that goes on to this call now
    }
  }
}

}  // namespace staghorn
