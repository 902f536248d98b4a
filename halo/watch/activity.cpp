#include "halo/watch/activity.hpp"

#include <algorithm>
#include <atomic>

namespace staghorn {

namespace {

constexpr int deepest = 8;  // levels below that are not told apart
std::atomic<const char*> activities[deepest];
std::atomic<int> depth;
std::atomic<std::uint64_t> progress;
std::atomic<int> patient_waits;

}  // namespace

Activity::Activity(const char* text) noexcept {
  const int level = depth.load(std::memory_order_relaxed);
  if (level < deepest) activities[level].store(text, std::memory_order_relaxed);
  depth.store(level + 1, std::memory_order_release);
  made_progress();
}

Activity::~Activity() {
  depth.fetch_sub(1, std::memory_order_relaxed);
  made_progress();
}

PatientWait::PatientWait() noexcept { ++patient_waits; }
PatientWait::~PatientWait() { --patient_waits; }
bool waits_patiently() noexcept { return patient_waits.load(std::memory_order_relaxed) > 0; }

void made_progress() noexcept { progress.fetch_add(1, std::memory_order_relaxed); }

std::uint64_t progress_count() noexcept { return progress.load(std::memory_order_relaxed); }

std::string current_activity() {
  const int levels = std::min(depth.load(std::memory_order_acquire), deepest);
  std::string text;
  for (int level = 0; level < levels; ++level)
    text += (level > 0 ? ": " : "") + std::string(activities[level].load(std::memory_order_relaxed));
  return text.empty() ? "computing" : text;
}

}  // namespace staghorn
