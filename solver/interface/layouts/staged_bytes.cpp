#include "solver/interface/layouts/staged_bytes.hpp"

#ifdef STAGHORN_CUDA

#include <omp.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <deque>
#include <exception>
#include <thread>

#include "halo/cuda/cuda_device.hpp"
#include "halo/cuda/cuda_event.hpp"
#include "halo/watch/activity.hpp"

namespace staghorn {

namespace {

constexpr std::int64_t chunk_bytes = std::int64_t{512} << 10, slots = 64;
constexpr std::int64_t longest_run = 4;  // chunks that travel by one copy
constexpr int threads_for_a_leader = 4;  // of so many threads the leading one copies nothing

// Chunks of a field on their way, each through a slot of a ring of pinned memory. All threads copy chunks between the
// host and the ring, in turns that each takes for itself. The leading thread also queues the copies between the ring
// and the GPU, of neighbouring chunks together.
class Transfer {
 public:
  Transfer(std::byte* ring, std::int64_t bytes)
      : ring_(ring), bytes_(bytes), chunks_((bytes + chunk_bytes - 1) / chunk_bytes) {}

  // copy(slot, first, count) copies bytes between the host and the ring, queue(slot, first, count) between the ring and
  // the GPU. `sends`: first into the ring, then to the GPU; else the other way.
  template <class Copy, class Queue>
  void run(bool sends, const Copy& copy, const Queue& queue) {
#pragma omp parallel
    {
      if (omp_get_thread_num() == 0) {
        try {
          lead(sends, copy, queue);
        } catch (...) {
          thrown_ = std::current_exception();
          failed_ = true;
        }
      } else {
        while (!failed_ && next_ < chunks_)
          if (!copy_next(copy)) std::this_thread::yield();
      }
    }
    if (thrown_) std::rethrow_exception(thrown_);
  }

 private:
  // A copy on the GPU's side: when it is done, so many chunks are.
  struct Queued {
    cuda::Event done;
    std::int64_t chunks;
  };

  std::byte* slot(std::int64_t chunk) const { return ring_ + chunk % slots * chunk_bytes; }
  std::int64_t size(std::int64_t chunk, std::int64_t count) const {
    return std::min(count * chunk_bytes, bytes_ - chunk * chunk_bytes);
  }
  bool is_copied(std::int64_t chunk) const { return copied_[std::size_t(chunk % slots)] == chunk + 1; }

  // Copies the next chunk, if its slot is ready for it.
  template <class Copy>
  bool copy_next(const Copy& copy) {
    std::int64_t chunk = next_;
    do
      if (chunk >= std::min(chunks_, ready_.load())) return false;
    while (!next_.compare_exchange_weak(chunk, chunk + 1));
    copy(slot(chunk), chunk * chunk_bytes, size(chunk, 1));
    copied_[std::size_t(chunk % slots)] = chunk + 1;
    return true;
  }

  template <class Copy, class Queue>
  void lead(bool sends, const Copy& copy, const Queue& queue) {
    std::deque<Queued> queued;
    std::int64_t begun = 0, ended = 0, copied = 0;  // chunks on the GPU's side; chunks of the host's side, in order
    const auto end = [&] { return sends ? ended : copied; };
    ready_ = sends ? slots : 0;
    while (end() < chunks_) {
      while (copied < chunks_ && is_copied(copied)) ++copied;
      while (!queued.empty() && queued.front().done.reached()) {
        ended = queued.front().chunks;
        queued.pop_front();
      }
      ready_ = sends ? ended + slots : ended;
      const std::int64_t may_begin = sends ? copied : std::min(chunks_, copied + slots);
      const std::int64_t run = std::min({may_begin - begun, longest_run, slots - begun % slots});
      if (run > 0) {
        queue(slot(begun), begun * chunk_bytes, size(begun, run));
        queued.push_back({{}, begun += run});
        queued.back().done.record(nullptr);
        made_progress();
      } else if (omp_get_num_threads() >= threads_for_a_leader || !copy_next(copy)) {
        std::this_thread::yield();
      }
    }
  }

  std::byte* ring_;
  std::int64_t bytes_, chunks_;
  std::atomic<std::int64_t> next_{0};                      // to be copied by a thread
  std::atomic<std::int64_t> ready_{0};                     // chunks before this one may be copied
  std::array<std::atomic<std::int64_t>, slots> copied_{};  // 1 + the chunk that was copied last, by slot
  std::atomic<bool> failed_{false};
  std::exception_ptr thrown_;
};

std::byte* room_in(Buffer& ring, std::int64_t bytes) {
  const std::int64_t wanted = std::min((bytes + chunk_bytes - 1) / chunk_bytes, slots) * chunk_bytes;
  if (ring.bytes() < std::size_t(wanted)) ring = Buffer(std::size_t(wanted), MemorySpace::pinned);
  return ring.data();
}

}  // namespace

std::byte* StagedBytes::room(std::int64_t bytes) {
  if (there_.bytes() < std::size_t(bytes)) there_ = Buffer(std::size_t(bytes), MemorySpace::cuda);
  return there_.data();
}

void StagedBytes::send(std::byte* to, const void* from, std::int64_t bytes) {
  const auto* const here = static_cast<const std::byte*>(from);
  Transfer(room_in(ring_, bytes), bytes)
      .run(
          true,
          [&](std::byte* slot, std::int64_t first, std::int64_t count) {
            std::memcpy(slot, here + first, std::size_t(count));
          },
          [&](const std::byte* slot, std::int64_t first, std::int64_t count) {
            cuda::queue_copy(to + first, slot, std::size_t(count));
          });
}

void StagedBytes::receive(void* to, const std::byte* from, std::int64_t bytes) {
  auto* const here = static_cast<std::byte*>(to);
  Transfer(room_in(ring_, bytes), bytes)
      .run(
          false,
          [&](const std::byte* slot, std::int64_t first, std::int64_t count) {
            std::memcpy(here + first, slot, std::size_t(count));
          },
          [&](std::byte* slot, std::int64_t first, std::int64_t count) {
            cuda::queue_copy(slot, from + first, std::size_t(count));
          });
}

}  // namespace staghorn

#else

#include "halo/watch/error.hpp"

namespace staghorn {

std::byte* StagedBytes::room(std::int64_t) { throw Error("this build of Staghorn has no CUDA code"); }
void StagedBytes::send(std::byte*, const void*, std::int64_t) {}
void StagedBytes::receive(void*, const std::byte*, std::int64_t) {}

}  // namespace staghorn

#endif
