// A CUDA runtime for machines without a GPU. One device is there, whose memory is memory of the host. Copies are made
// at once; kernels do nothing. So a rank on this device computes nonsense, but it takes every step on the host that a
// rank on a GPU takes, and meets the other ranks in the same messages and sums. Events are late at times, as those of a
// GPU.
//
// Its functions stand for those of the CUDA runtime 12 that Staghorn calls; a program that is linked with it takes none
// of the real ones.
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace {

struct Block {
  std::size_t bytes;
  cudaMemoryType type;
};

std::mutex mutex;
std::map<const char*, Block> blocks;  // by address

cudaError_t take(void** data, std::size_t bytes, cudaMemoryType type) {
  *data = std::calloc(bytes, 1);
  if (!*data) return cudaErrorMemoryAllocation;
  const std::lock_guard lock(mutex);
  blocks[static_cast<const char*>(*data)] = {bytes, type};
  return cudaSuccess;
}

cudaError_t give(void* data) {
  const std::lock_guard lock(mutex);
  blocks.erase(static_cast<const char*>(data));
  std::free(data);
  return cudaSuccess;
}

// True once in 16 calls.
bool is_late() {
  static thread_local unsigned state = 1;
  state = state * 1664525u + 1013904223u;
  return state >> 28 == 0;
}

struct Configuration {
  dim3 grid, block;
  std::size_t shared;
  void* stream;
};
thread_local Configuration configuration;

template <class Handle>
cudaError_t made(Handle* handle) {
  static char place;
  *handle = reinterpret_cast<Handle>(&place);
  return cudaSuccess;
}

}  // namespace

extern "C" {

// What nvcc generates calls these. CUDA's own headers declare none of them.
void** __cudaRegisterFatBinary(void*) {
  static void* handle;
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*, void*, void*, int*) {}
void __cudaRegisterVar(void**, char*, char*, const char*, int, std::size_t, int, int) {}
char __cudaInitModule(void**) { return 0; }
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, struct CUstream_st* stream) {
  configuration = {grid, block, shared, stream};
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  *grid = configuration.grid;
  *block = configuration.block;
  *shared = configuration.shared;
  *static_cast<void**>(stream) = configuration.stream;
  return cudaSuccess;
}
cudaError_t cudaLaunchKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t) { return cudaSuccess; }
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void*) {
  *kernel = nullptr;
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t*, const void*, void**) { return cudaSuccess; }
cudaError_t cudaLaunchCooperativeKernel(const void*, dim3, dim3, void**, std::size_t, cudaStream_t) {
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) { return cudaSuccess; }
constexpr std::size_t memory_bytes = std::size_t{4} << 30;
#undef cudaGetDeviceProperties
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::memset(properties, 0, sizeof *properties);
  std::strcpy(properties->name, "idle");
  properties->totalGlobalMem = memory_bytes;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties_v2(cudaDeviceProp* properties, int device) {
  return cudaGetDeviceProperties(properties, device);
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrComputeCapabilityMajor         ? 9
           : attribute == cudaDevAttrMultiProcessorCount          ? 132
           : attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin ? 227 << 10
           : attribute == cudaDevAttrL2CacheSize                  ? 50 << 20
                                                                  : 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* id, int length, int) {
  std::strncpy(id, "idle", std::size_t(length));
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* available, std::size_t* total) {
  const char* const others = std::getenv("IDLE_GPU_USED_BY_OTHERS");  // bytes
  *available = memory_bytes - (others ? std::strtoull(others, nullptr, 10) : 0);
  *total = memory_bytes;
  return cudaSuccess;
}
cudaError_t cudaGetLastError() { return cudaSuccess; }
const char* cudaGetErrorString(cudaError_t) { return "an error of the idle runtime"; }
const char* cudaGetErrorName(cudaError_t) { return "an error of the idle runtime"; }
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }

cudaError_t cudaMalloc(void** data, std::size_t bytes) { return take(data, bytes, cudaMemoryTypeDevice); }
cudaError_t cudaFree(void* data) { return give(data); }
cudaError_t cudaMallocHost(void** data, std::size_t bytes) { return take(data, bytes, cudaMemoryTypeHost); }
cudaError_t cudaHostAlloc(void** data, std::size_t bytes, unsigned) { return take(data, bytes, cudaMemoryTypeHost); }
cudaError_t cudaFreeHost(void* data) { return give(data); }
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  std::memmove(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                         std::size_t rows, cudaMemcpyKind) {
  for (std::size_t row = 0; row < rows; ++row)
    std::memcpy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width);
  return cudaSuccess;
}
cudaError_t cudaMemset(void* data, int value, std::size_t bytes) {
  std::memset(data, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t) {
  return cudaMemset(data, value, bytes);
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  std::memset(attributes, 0, sizeof *attributes);
  const auto* const place = static_cast<const char*>(pointer);
  const std::lock_guard lock(mutex);
  const auto after = blocks.upper_bound(place);
  if (after == blocks.begin()) return cudaSuccess;
  const auto& [first, block] = *std::prev(after);
  if (place < first + block.bytes) attributes->type = block.type;
  return cudaSuccess;
}
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t*, void*) { return cudaErrorNotSupported; }
cudaError_t cudaIpcOpenMemHandle(void**, cudaIpcMemHandle_t, unsigned) { return cudaErrorNotSupported; }
cudaError_t cudaIpcCloseMemHandle(void*) { return cudaSuccess; }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) { return made(stream); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) { return made(stream); }
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = *greatest = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
cudaError_t cudaEventCreate(cudaEvent_t* event) { return made(event); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return made(event); }
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventQuery(cudaEvent_t) { return is_late() ? cudaErrorNotReady : cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 1e-3f;
  return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) { return cudaSuccess; }
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) { return made(graph); }
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* graph, cudaGraph_t, unsigned long long) { return made(graph); }
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) { return cudaSuccess; }
cudaError_t cudaGraphDestroy(cudaGraph_t) { return cudaSuccess; }

cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int) { return cudaSuccess; }
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks_of_one, const void*, int, std::size_t) {
  *blocks_of_one = 4;
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks_of_one, const void* kernel, int threads,
                                                                   std::size_t shared, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks_of_one, kernel, threads, shared);
}
}
