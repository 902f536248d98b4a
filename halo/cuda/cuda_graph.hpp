// Work for a GPU that is recorded once and started many times, as one CUDA graph. Its kernels follow each other without
// the host. In a build without CUDA nothing can be recorded.
#pragma once

#include <functional>

namespace staghorn::cuda {

class RecordedWork {
 public:
  // Records the work that `queue` queues on its stream (a cudaStream_t). Nothing runs yet.
  explicit RecordedWork(const std::function<void(void* stream)>& queue);
  ~RecordedWork();
  RecordedWork(const RecordedWork&) = delete;
  RecordedWork& operator=(const RecordedWork&) = delete;

  void start(void* stream = nullptr);  // queues the recorded work on a stream; nullptr: the default stream

 private:
  void* executable_ = nullptr;
};

}  // namespace staghorn::cuda
