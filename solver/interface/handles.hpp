// What the handles of staghorn.h stand for. A handle is a number that is never given twice, so a destroyed handle is
// found out. One table holds all handles of the process; a lock guards it for as long as it takes to look one up.
#pragma once

#include <staghorn.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "solver/gauge/gauge.hpp"
#include "solver/interface/alike.hpp"
#include "solver/interface/layouts/byte_hash.hpp"
#include "solver/interface/layouts/host_fields.hpp"
#include "solver/interface/layouts/staged_vectors.hpp"
#include "solver/interface/statuses.hpp"

namespace staghorn {

struct HeldContext {
  std::unique_ptr<Context> context;
  staghorn_options options{};
  std::map<std::string, std::string> texts;                          // options by name
  bool main_thread_only = false;                                     // MPI was started as SINGLE or FUNNELED
  std::atomic<bool> in_use{false};                                   // by a call
  std::atomic<std::thread::id> thread = std::this_thread::get_id();  // of the last call
  std::set<staghorn_gauge*> gauges;
  std::int64_t gauges_made = 0;
  std::function<std::string()> report;  // of the last solve or search, as JSON
  std::set<std::string> logged;         // warnings that the host has had
};

// Links of an update as the host described them, and a hash of each buffer, if the host asked for that.
struct LinksSeen {
  staghorn_links links{};
  std::array<ByteHash, 4> bytes{};
};

struct HeldGauge {
  std::shared_ptr<HeldContext> context;
  std::unique_ptr<Gauge> gauge;
  std::int64_t number = 0;              // among the gauges that the context made; the same on all ranks
  SessionOptions asked;                 // by words of context and gauge: what its solves begin with
  std::optional<Boundary> boundary;     // by these words, instead of that of `links`
  LinksSeen links;                      // of the last update
  std::optional<LinksSeen> long_links;  // of that, where it brought fat and long links
  QuarkAction action;                   // what thin links become
  Reconstruct long_reals = Reconstruct::none18;
  VectorSigns signs;  // of vectors in the convention of these links
  std::uint64_t loads = 0;
  std::vector<VectorField> sources, solutions;  // of the last solve: the next one finds them here
  StagedVectors staged;                         // vectors of the host on their way

  // Makes `sources` and `solutions` so many fields in `space`, unless they are. Local.
  void make_fields(std::size_t n_sources, std::size_t n_solutions, MemorySpace space);
  // Makes at least one of each there; those that are there already stay. Local.
  void make_a_field(MemorySpace space);
  // Waits until fields of the host on the GPU are ready, in the order of the host's stream. Local.
  void await_host() const;

  const Communicator& ranks() const { return context->context->communicator(); }
  const Lattice& lattice() const { return context->context->lattice(); }
};

// Options by name.
struct HeldWords {
  std::map<std::string, std::string> texts;  // by name
};

// New handles, handles looked up, handles given back. Looking up throws Error: kind `argument` for NULL, `state` for
// what is not a handle (any more). Giving back returns what the handle stood for. Local.
staghorn_context* make_handle(std::shared_ptr<HeldContext> held);
staghorn_gauge* make_handle(std::shared_ptr<HeldGauge> held);
staghorn_words* make_handle(std::shared_ptr<HeldWords> held);
std::shared_ptr<HeldContext> held_by(const staghorn_context* handle);
std::shared_ptr<HeldGauge> held_by(const staghorn_gauge* handle);
std::shared_ptr<HeldWords> held_by(const staghorn_words* handle);
void drop_handle(const staghorn_context* handle);
void drop_handle(const staghorn_gauge* handle);
void drop_handle(const staghorn_words* handle);

// The same in a collective call. A rank whose handle is none has no group; others, whose handles are good, may wait for
// it. So it looks for Alarm::seconds_for_others whether they do, in the contexts of its thread. If so, all of them
// throw its Error. Collective.
std::shared_ptr<HeldContext> held_together(const staghorn_context* handle);
std::shared_ptr<HeldGauge> held_together(const staghorn_gauge* handle);

// One call at a time has a context. Throws Error of kind `state` if another call has it, which may be the one that runs
// the progress function, or if this thread may not call MPI.
class Claim {
 public:
  explicit Claim(HeldContext& held);
  ~Claim();
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

 private:
  HeldContext& held_;
};

// A call works in a context that it has: it opens a Context::Scope, which throws where the GPU cannot be selected.
class Use {
 public:
  explicit Use(HeldContext& held) : claim_(held), scope_(*held.context) {}

 private:
  Claim claim_;
  Context::Scope scope_;
};

// Runs `work`, collective and with a status that is the same on all ranks, in a context. If a rank fails alone, all
// throw its Error, and the context goes on with what the host gave it: links stay, all else is made again. Collective.
int run_together(HeldContext& held, const std::function<int()>& work);

inline HeldContext& context_of(HeldContext& held) { return held; }
inline HeldContext& context_of(HeldGauge& held) { return *held.context; }

// A collective function of staghorn.h on a context or a gauge: work(held), as run_together runs it.
template <class Handle, class Work>
int collectively(const Handle* handle, const Work& work) {
  return guarded([&] {
    const auto held = held_together(handle);
    const auto with_held = [&] { return status_of_work([&] { return work(*held); }); };
    return run_together(context_of(*held), std::cref(with_held));  // needs no memory of its own
  });
}

// A local function on a context or a gauge, in whose context it works.
template <class Handle, class Work>
int locally(const Handle* handle, const Work& work) {
  return guarded([&] {
    const auto held = held_by(handle);
    const Use use(context_of(*held));
    return status_of_work([&] { return work(*held); });
  });
}

// The first message of a call on a gauge (agree_alike): ranks name the same gauge. Throws Error of kind `state` if its
// last update was refused. Collective.
void agree_on(const HeldGauge& held, const char* call, const std::function<void(Asked&)>& read);

}  // namespace staghorn
