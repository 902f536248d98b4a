#include "halo/cuda/cuda_graph.hpp"

#ifdef STAGHORN_CUDA

#include "halo/cuda/cuda_check.hpp"

namespace staghorn::cuda {

RecordedWork::RecordedWork(const std::function<void(void* stream)>& queue) {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  STAGHORN_CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  STAGHORN_CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  queue(stream);
  STAGHORN_CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  graph_ = graph;
  STAGHORN_CUDA_CHECK(cudaGraphInstantiate(&executable, graph, 0));
  executable_ = executable;
  STAGHORN_CUDA_CHECK(cudaStreamDestroy(stream));
}

RecordedWork::~RecordedWork() {
  cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(executable_));
  cudaGraphDestroy(static_cast<cudaGraph_t>(graph_));
}

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
