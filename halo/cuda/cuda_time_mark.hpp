// Marks in the work that is queued on a GPU, whose times can be asked for afterwards. Without CUDA they cannot be set.
#pragma once

namespace staghorn::cuda {

class TimeMark {
 public:
  TimeMark() = default;
  ~TimeMark();
  TimeMark(const TimeMark&) = delete;
  TimeMark& operator=(const TimeMark&) = delete;

  // Queues the mark on a cudaStream_t, the default stream unless one is given; setting it again moves it.
  void set(void* stream = nullptr);
  // From `earlier` to this mark. Both were set; waits until the device has reached this one.
  double seconds_since(const TimeMark& earlier) const;

 private:
  void* event_ = nullptr;  // made when first set
};

}  // namespace staghorn::cuda
