#include "halo/watch/activity.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <mutex>

namespace staghorn {

namespace {

constexpr int deepest = 8;  // levels below that are counted, but not kept

std::atomic<std::uint64_t> progress;
std::atomic<int> patient_waits;

class ThreadNotes;
std::mutex list_mutex;                          // guards the list, not the notes
ThreadNotes* first_thread = nullptr;            // of the list
thread_local ThreadNotes* own_notes = nullptr;  // of this thread, once it has noted an activity

// The activities of one thread. The thread itself writes them, any thread reads them.
class ThreadNotes {
 public:
  ThreadNotes() {
    const std::lock_guard lock(list_mutex);
    ThreadNotes** end = &first_thread;
    while (*end) end = &(*end)->next_;
    *end = this;
    own_notes = this;
  }
  ~ThreadNotes() {
    const std::lock_guard lock(list_mutex);
    ThreadNotes** place = &first_thread;
    while (*place != this) place = &(*place)->next_;
    *place = next_;
    own_notes = nullptr;
  }
  ThreadNotes(const ThreadNotes&) = delete;
  ThreadNotes& operator=(const ThreadNotes&) = delete;

  void enter(const char* text) noexcept {
    const int level = depth_.load(std::memory_order_relaxed);
    if (level < deepest) texts_[level].store(text, std::memory_order_relaxed);
    depth_.store(level + 1, std::memory_order_release);
  }
  void leave() noexcept { depth_.store(depth_.load(std::memory_order_relaxed) - 1, std::memory_order_release); }

  std::string text() const {
    const int levels = std::min(depth_.load(std::memory_order_acquire), deepest);
    std::string result;
    for (int level = 0; level < levels; ++level)
      result += (level > 0 ? ": " : "") + std::string(texts_[level].load(std::memory_order_relaxed));
    return result;
  }
  const ThreadNotes* next() const { return next_; }
  void stay_alone() { next_ = nullptr; }

 private:
  std::atomic<int> depth_{0};
  std::atomic<const char*> texts_[deepest] = {};
  ThreadNotes* next_ = nullptr;
};

ThreadNotes& notes_of_this_thread() {
  static thread_local ThreadNotes notes;
  return notes;
}

// A child that is forked has the forking thread alone: the notes of all others lie in memory that is used again.
void forget_the_parents_threads() {
  first_thread = own_notes;
  if (own_notes) own_notes->stay_alone();
  list_mutex.unlock();
}

[[maybe_unused]] const int notes_in_children =
    pthread_atfork([] { list_mutex.lock(); }, [] { list_mutex.unlock(); }, forget_the_parents_threads);

}  // namespace

Activity::Activity(const char* text) noexcept {
  notes_of_this_thread().enter(text);
  made_progress();
}

Activity::~Activity() {
  notes_of_this_thread().leave();
  made_progress();
}

PatientWait::PatientWait() noexcept { ++patient_waits; }
PatientWait::~PatientWait() { --patient_waits; }
bool waits_patiently() noexcept { return patient_waits.load(std::memory_order_relaxed) > 0; }

void made_progress() noexcept { progress.fetch_add(1, std::memory_order_relaxed); }

std::uint64_t progress_count() noexcept { return progress.load(std::memory_order_relaxed); }

std::string current_activity() {
  const std::lock_guard lock(list_mutex);
  std::string result;
  for (const ThreadNotes* thread = first_thread; thread; thread = thread->next()) {
    const std::string text = thread->text();
    if (!text.empty()) result += (result.empty() ? "" : "; ") + text;
  }
  return result.empty() ? "computing" : result;
}

}  // namespace staghorn
