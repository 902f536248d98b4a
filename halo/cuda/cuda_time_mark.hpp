// Time marks in the work that is queued on a GPU. In a build without CUDA they cannot be set.
#pragma once

namespace staghorn::cuda {

class TimeMark {
 public:
  TimeMark() = default;
  ~TimeMark();
  TimeMark(const TimeMark&) = delete;
  TimeMark& operator=(const TimeMark&) = delete;

  // Queues the mark on a cudaStream_t (nullptr: the default stream). Setting it again moves it.
  void set(void* stream = nullptr);
  // Seconds from `earlier` to this mark. Both have been set. Waits until the device has reached this mark.
  double seconds_since(const TimeMark& earlier) const;

 private:
  void* event_ = nullptr;  // made when first set
};

}  // namespace staghorn::cuda
