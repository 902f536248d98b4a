#include "halo/cuda/cuda_graph.hpp"

#ifdef STAGHORN_CUDA

#include "halo/cuda/cuda_check.hpp"

namespace staghorn::cuda {

namespace {

// A stream whose work is recorded. While it is, CUDA refuses this thread much else: it has to end, whatever happens.
class Recording {
 public:
  Recording() { STAGHORN_CUDA_CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Recording() {
    if (runs_) cudaStreamEndCapture(stream_, &graph_);
    if (graph_) cudaGraphDestroy(graph_);
    cudaStreamDestroy(stream_);
  }
  Recording(const Recording&) = delete;

  void begin() {
    runs_ = true;
    STAGHORN_CUDA_CHECK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
  }
  void end() {
    runs_ = false;
    STAGHORN_CUDA_CHECK(cudaStreamEndCapture(stream_, &graph_));
  }
  cudaStream_t stream() const { return stream_; }
  cudaGraph_t graph() const { return graph_; }

 private:
  cudaStream_t stream_ = nullptr;
  cudaGraph_t graph_ = nullptr;
  bool runs_ = false;
};

}  // namespace

RecordedWork::RecordedWork(const std::function<void(void* stream)>& queue) {
  Recording recording;
  recording.begin();
  queue(recording.stream());
  recording.end();
  cudaGraphExec_t executable = nullptr;
  STAGHORN_CUDA_CHECK(cudaGraphInstantiate(&executable, recording.graph(), 0));
  executable_ = executable;
}

RecordedWork::~RecordedWork() { cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(executable_)); }

void RecordedWork::start(void* stream) {
  STAGHORN_CUDA_CHECK(cudaGraphLaunch(static_cast<cudaGraphExec_t>(executable_), static_cast<cudaStream_t>(stream)));
}

}  // namespace staghorn::cuda

#else

#include "halo/watch/error.hpp"

namespace staghorn::cuda {

RecordedWork::RecordedWork(const std::function<void(void*)>&) {
  throw Error("this build of Staghorn has no CUDA code");
}
RecordedWork::~RecordedWork() = default;
void RecordedWork::start(void*) {}

}  // namespace staghorn::cuda

#endif
