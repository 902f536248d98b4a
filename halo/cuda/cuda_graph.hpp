// Work for a GPU that is queued once and started many times, as one CUDA graph: its kernels follow each other without
// the host. Without CUDA there is none to record.
#pragma once

#include <functional>

namespace staghorn::cuda {

class RecordedWork {
 public:
  // Records what `queue` queues on the stream (cudaStream_t) that it is given; nothing runs yet.
  explicit RecordedWork(const std::function<void(void* stream)>& queue);
  ~RecordedWork();
  RecordedWork(const RecordedWork&) = delete;
  RecordedWork& operator=(const RecordedWork&) = delete;

  void start(void* stream = nullptr);  // queues it all on a stream, the default one unless one is given

 private:
  void *graph_ = nullptr, *executable_ = nullptr;
};

}  // namespace staghorn::cuda
