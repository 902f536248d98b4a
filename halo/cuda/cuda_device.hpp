// What host code needs of CUDA: devices, memory, copies. One implementation calls the CUDA runtime. The other, for
// builds without CUDA, has no devices. A program with the first also runs on a machine without GPU or driver. Every
// call is checked: Error names the call and gives CUDA's own message. Local.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace staghorn::cuda {

bool built();        // this build has CUDA code
int device_count();  // 0 without driver or device
void select_device(int index);
int selected_device();  // of this thread
std::string device_name(int index);
std::string device_architecture(int index);  // "sm_90 with 132 processors"
std::string device_identity(int index);      // PCI bus id: tells whether two ranks use the same GPU
std::size_t cache_bytes(int index);          // of its last level, L2
std::size_t free_bytes();                    // on the selected device

void* allocate(std::size_t bytes);  // zero-filled
void release(void* data) noexcept;
void set_zero(void* data, std::size_t bytes);
void copy_to_device(void* to, const void* from, std::size_t bytes);
void copy_to_host(void* to, const void* from, std::size_t bytes);
void copy_on_device(void* to, const void* from, std::size_t bytes);
// `rows` pieces of `row_bytes`, `stride` bytes apart on the device and together on the host.
void copy_rows_to_host(void* to, const void* from, std::size_t row_bytes, std::size_t stride, std::size_t rows);
// Copies between any two places that the device can reach: own, peer's or pinned memory. On the default stream.
void copy(void* to, const void* from, std::size_t bytes);
void queue_copy(void* to, const void* from, std::size_t bytes);  // as copy(); the host does not wait
void synchronize();
// Stores `value` into memory that the device can reach, beside the work that is queued, also while kernels that wait
// fill the device. Nothing says whether it failed.
void store_beside(std::uint64_t* to, std::uint64_t value) noexcept;
void come_to_rest() noexcept;  // as synchronize(), whatever CUDA says
// Waits until the work queued on a stream of the caller's, a cudaStream_t, is done; nullptr: the default stream.
void wait_for_stream(void* stream);

void* allocate_pinned(std::size_t bytes);  // host memory that GPUs read and write; zero-filled
void release_pinned(void* data) noexcept;

// What a pointer points to, as CUDA sees it. `managed` memory is reached from host and device alike.
enum class PointerKind { host, pinned, device, managed };
struct PointerPlace {
  PointerKind kind;
  int device;  // of device memory
};
PointerPlace place_of_pointer(const void* pointer);

// Device memory of one process in another process of the same host.
using IpcHandle = std::array<char, 64>;
using DeviceId = std::array<char, 16>;  // of the selected device, unique
IpcHandle ipc_handle(void* data);
void* ipc_open(const IpcHandle& handle);
void ipc_close(void* data) noexcept;
DeviceId device_id();

}  // namespace staghorn::cuda
