#include "halo/cuda/cuda_device.hpp"

#ifdef STAGHORN_CUDA

#include <cstring>

#include "halo/cuda/cuda_check.hpp"

namespace staghorn::cuda {

bool built() { return true; }

int device_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  cudaGetLastError();  // no driver or no device is an answer, not a failure
  return 0;
}

void select_device(int index) { STAGHORN_CUDA_CHECK(cudaSetDevice(index)); }

int selected_device() {
  int index = 0;
  STAGHORN_CUDA_CHECK(cudaGetDevice(&index));
  return index;
}

std::string device_name(int index) {
  cudaDeviceProp properties;
  STAGHORN_CUDA_CHECK(cudaGetDeviceProperties(&properties, index));
  return properties.name;
}

std::size_t cache_bytes(int index) {
  int bytes = 0;
  STAGHORN_CUDA_CHECK(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, index));
  return std::size_t(bytes);
}

std::string device_architecture(int index) {
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    STAGHORN_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, index));
    return std::to_string(value);
  };
  return "sm_" + attribute(cudaDevAttrComputeCapabilityMajor) + attribute(cudaDevAttrComputeCapabilityMinor) +
         " with " + attribute(cudaDevAttrMultiProcessorCount) + " processors";
}

std::string device_identity(int index) {
  char id[32] = {};
  STAGHORN_CUDA_CHECK(cudaDeviceGetPCIBusId(id, sizeof id, index));
  return id;
}

std::size_t free_bytes() {
  std::size_t free = 0, total = 0;
  STAGHORN_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return free;
}

void* allocate(std::size_t bytes) {
  void* data = nullptr;
  const cudaError_t code = cudaMalloc(&data, bytes);
  if (code == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw Error(ErrorKind::memory, "out of GPU memory: " + std::to_string(bytes) + " bytes could not be allocated, " +
                                       std::to_string(free_bytes()) + " are free");
  }
  if (code != cudaSuccess) check(code, "cudaMalloc(&data, bytes)", __FILE__, __LINE__);
  set_zero(data, bytes);
  return data;
}

void release(void* data) noexcept { cudaFree(data); }
void set_zero(void* data, std::size_t bytes) { STAGHORN_CUDA_CHECK(cudaMemset(data, 0, bytes)); }
void copy_to_device(void* to, const void* from, std::size_t bytes) {
  STAGHORN_CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
}
void copy_to_host(void* to, const void* from, std::size_t bytes) {
  STAGHORN_CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
}
void copy_rows_to_host(void* to, const void* from, std::size_t row_bytes, std::size_t stride, std::size_t rows) {
  STAGHORN_CUDA_CHECK(cudaMemcpy2D(to, row_bytes, from, stride, row_bytes, rows, cudaMemcpyDeviceToHost));
}
void copy_on_device(void* to, const void* from, std::size_t bytes) {
  STAGHORN_CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice));
}
void copy(void* to, const void* from, std::size_t bytes) {
  STAGHORN_CUDA_CHECK(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
}
void queue_copy(void* to, const void* from, std::size_t bytes) {
  STAGHORN_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault));
}
void synchronize() { STAGHORN_CUDA_CHECK(cudaDeviceSynchronize()); }

void store_beside(std::uint64_t* to, std::uint64_t value) noexcept {
  cudaStream_t stream = nullptr;
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return;
  cudaMemcpyAsync(to, &value, sizeof value, cudaMemcpyDefault, stream);
  cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
}

void come_to_rest() noexcept { cudaDeviceSynchronize(); }
void wait_for_stream(void* stream) { STAGHORN_CUDA_CHECK(cudaStreamSynchronize(static_cast<cudaStream_t>(stream))); }

PointerPlace place_of_pointer(const void* pointer) {
  cudaPointerAttributes attributes{};
  STAGHORN_CUDA_CHECK(cudaPointerGetAttributes(&attributes, pointer));
  switch (attributes.type) {
    case cudaMemoryTypeHost:
      return {PointerKind::pinned, attributes.device};
    case cudaMemoryTypeDevice:
      return {PointerKind::device, attributes.device};
    case cudaMemoryTypeManaged:
      return {PointerKind::managed, attributes.device};
    case cudaMemoryTypeUnregistered:
      break;
  }
  return {PointerKind::host, -1};
}

void* allocate_pinned(std::size_t bytes) {
  void* data = nullptr;
  if (cudaMallocHost(&data, bytes) != cudaSuccess) {
    cudaGetLastError();
    throw Error(ErrorKind::memory,
                "out of pinned host memory: " + std::to_string(bytes) + " bytes could not be allocated");
  }
  std::memset(data, 0, bytes);
  return data;
}
void release_pinned(void* data) noexcept { cudaFreeHost(data); }

IpcHandle ipc_handle(void* data) {
  cudaIpcMemHandle_t native;
  STAGHORN_CUDA_CHECK(cudaIpcGetMemHandle(&native, data));
  IpcHandle handle{};
  static_assert(sizeof native == sizeof handle);
  std::memcpy(handle.data(), &native, sizeof native);
  return handle;
}

void* ipc_open(const IpcHandle& handle) {
  cudaIpcMemHandle_t native;
  std::memcpy(&native, handle.data(), sizeof native);
  void* data = nullptr;
  STAGHORN_CUDA_CHECK(cudaIpcOpenMemHandle(&data, native, cudaIpcMemLazyEnablePeerAccess));
  return data;
}

void ipc_close(void* data) noexcept { cudaIpcCloseMemHandle(data); }

DeviceId device_id() {
  int device = 0;
  cudaDeviceProp properties;
  STAGHORN_CUDA_CHECK(cudaGetDevice(&device));
  STAGHORN_CUDA_CHECK(cudaGetDeviceProperties(&properties, device));
  DeviceId id{};
  static_assert(sizeof properties.uuid == sizeof id);
  std::memcpy(id.data(), &properties.uuid, sizeof id);
  return id;
}

}  // namespace staghorn::cuda

#else

#include "halo/cuda/cuda_slow_down.hpp"
#include "halo/watch/error.hpp"

namespace staghorn::cuda {

namespace {
[[noreturn]] void refuse() { throw Error(ErrorKind::device, "this build of Staghorn has no CUDA code"); }
}  // namespace

bool built() { return false; }
int device_count() { return 0; }
void select_device(int) { refuse(); }
int selected_device() { refuse(); }
std::string device_name(int) { refuse(); }
std::string device_architecture(int) { refuse(); }
std::size_t cache_bytes(int) { refuse(); }
std::string device_identity(int) { refuse(); }
std::size_t free_bytes() { refuse(); }
void* allocate(std::size_t) { refuse(); }
void release(void*) noexcept {}
void set_zero(void*, std::size_t) { refuse(); }
void copy_to_device(void*, const void*, std::size_t) { refuse(); }
void copy_to_host(void*, const void*, std::size_t) { refuse(); }
void copy_rows_to_host(void*, const void*, std::size_t, std::size_t, std::size_t) { refuse(); }
void copy_on_device(void*, const void*, std::size_t) { refuse(); }
void copy(void*, const void*, std::size_t) { refuse(); }
void queue_copy(void*, const void*, std::size_t) { refuse(); }
void synchronize() { refuse(); }
void store_beside(std::uint64_t*, std::uint64_t) noexcept {}
void come_to_rest() noexcept {}
void wait_for_stream(void*) { refuse(); }
PointerPlace place_of_pointer(const void*) { refuse(); }
void* allocate_pinned(std::size_t) { refuse(); }
void release_pinned(void*) noexcept {}
IpcHandle ipc_handle(void*) { refuse(); }
void* ipc_open(const IpcHandle&) { refuse(); }
void ipc_close(void*) noexcept {}
DeviceId device_id() { refuse(); }
void begin_slow_work(void*, void*) { refuse(); }
void end_slow_work(const void*, double, void*) { refuse(); }

}  // namespace staghorn::cuda

#endif
