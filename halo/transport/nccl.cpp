#include "halo/transport/nccl.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <map>
#include <thread>
#include <vector>

#include "halo/communicator_attribute.hpp"
#include "halo/cuda/cuda_check.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "halo/transport/peer_memory.hpp"
#include "halo/watch/alarm.hpp"
#include "halo/watch/stopwatch.hpp"

namespace staghorn {

namespace {

// The few declarations of nccl.h that are used.
using Handle = struct ncclComm*;
using Status = int;  // 0 is success
struct UniqueId {
  char bytes[128];
};
constexpr int int8 = 0, int64 = 4;  // types of data
constexpr int add = 0;              // of reductions

// Older versions were not tested. Since 2.9 a version is encoded as 10000 major + 100 minor + patch; before, with 1000
// instead of 10000.
constexpr int least_version = 21300;

std::string version_text(int version) {
  const int major = version < 10000 ? 1000 : 10000;
  return std::to_string(version / major) + "." + std::to_string(version % major / 100) + "." +
         std::to_string(version % 100);
}

// The functions of the library. It stays loaded: unloading it while the CUDA runtime stays loaded fails.
struct Library {
  Status (*get_version)(int*);
  Status (*get_unique_id)(UniqueId*);
  Status (*init_rank)(Handle*, int size, UniqueId, int rank);
  Status (*destroy)(Handle);
  Status (*abort)(Handle);
  Status (*get_async_error)(Handle, Status*);
  const char* (*status_text)(Status);
  const char* (*last_error)(Handle);
  Status (*start_group)();
  Status (*end_group)();
  Status (*send)(const void*, std::size_t count, int type, int rank, Handle, cudaStream_t);
  Status (*receive)(void*, std::size_t count, int type, int rank, Handle, cudaStream_t);
  Status (*all_reduce)(const void* from, void* to, std::size_t count, int type, int operation, Handle, cudaStream_t);

  // Throws Error that says what the loader said of each name that was tried, or which version was found.
  Library() {
    std::string failures;
    void* library = nullptr;
    for (const char* name : {"libnccl.so.2", "libnccl.so"}) {
      library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (library) break;
      failures += std::string(failures.empty() ? "" : "; ") + dlerror();
    }
    if (!library) throw Error("no NCCL library was found (LD_LIBRARY_PATH may name its folder): " + failures);
    find(library, "ncclGetVersion", get_version);
    int version = 0;
    if (get_version(&version) != 0 || version < least_version)
      throw Error("NCCL", "version " + version_text(least_version) + " or newer", version_text(version));
    find(library, "ncclGetUniqueId", get_unique_id);
    find(library, "ncclCommInitRank", init_rank);
    find(library, "ncclCommDestroy", destroy);
    find(library, "ncclCommAbort", abort);
    find(library, "ncclCommGetAsyncError", get_async_error);
    find(library, "ncclGetErrorString", status_text);
    find(library, "ncclGetLastError", last_error);
    find(library, "ncclGroupStart", start_group);
    find(library, "ncclGroupEnd", end_group);
    find(library, "ncclSend", send);
    find(library, "ncclRecv", receive);
    find(library, "ncclAllReduce", all_reduce);
  }

 private:
  template <class Function>
  static void find(void* library, const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    if (!function) throw Error("NCCL", std::string("a library with ") + name, "one without");
  }
};

}  // namespace

struct NcclCommunicator::State final : Alarm::DeviceWork {
  Library nccl;
  Handle handle = nullptr;  // NCCL refuses nullptr
  Alarm* alarm = nullptr;   // there may be none

  ~State() override {
    if (handle) nccl.destroy(handle);
  }
  void call_off() noexcept override {
    if (handle) nccl.abort(handle);
    handle = nullptr;
  }
  void come_to_rest() noexcept override { cuda::come_to_rest(); }

  void check(Status status, const char* call, const char* file, int line) const {
    if (status == 0) return;
    const char* more = nccl.last_error(handle);
    throw Error(std::string(file) + ":" + std::to_string(line) + ": " + call + ": " + nccl.status_text(status) +
                (more && *more ? std::string(" (") + more + ")" : ""));
  }
};

#define STAGHORN_NCCL_CHECK(state, call) (state).check((state).nccl.call, #call, __FILE__, __LINE__)

namespace {

// Ends the group also if a call within it fails.
template <class State>
class Group {
 public:
  explicit Group(const State& state) : state_(state) { STAGHORN_NCCL_CHECK(state_, start_group()); }
  ~Group() {
    if (open_) state_.nccl.end_group();
  }
  Group(const Group&) = delete;
  void end() {
    open_ = false;
    STAGHORN_NCCL_CHECK(state_, end_group());
  }

 private:
  const State& state_;
  bool open_ = true;
};

}  // namespace

NcclCommunicator::NcclCommunicator(const Communicator& communicator) {
  UniqueId id = {};
  communicator.agree([&] {
    state_ = std::make_shared<State>();
    state_->alarm = communicator.alarm();
    if (state_->alarm) state_->alarm->keep(state_);
    if (communicator.is_root()) STAGHORN_NCCL_CHECK(*state_, get_unique_id(&id));
  });
  communicator.broadcast(&id, sizeof id);
  communicator.enter();
  communicator.agree(
      [&] { STAGHORN_NCCL_CHECK(*state_, init_rank(&state_->handle, communicator.size(), id, communicator.rank())); });
}

NcclCommunicator::~NcclCommunicator() = default;

void NcclCommunicator::exchange(std::span<const FaceChannel> channels, void* stream) const {
  // NCCL matches what two ranks send and receive in the order of the calls.
  std::vector<FaceChannel> in_order(channels.begin(), channels.end());
  std::sort(in_order.begin(), in_order.end(), [](const auto& a, const auto& b) { return a.tag < b.tag; });
  const auto queue = static_cast<cudaStream_t>(stream);
  Group group(*state_);
  for (const FaceChannel& c : in_order) {
    if (c.sends()) STAGHORN_NCCL_CHECK(*state_, send(c.send, c.bytes, int8, c.send_to, state_->handle, queue));
    if (c.receives())
      STAGHORN_NCCL_CHECK(*state_, receive(c.receive, c.bytes, int8, c.receive_from, state_->handle, queue));
  }
  group.end();
}

void NcclCommunicator::sum(std::int64_t* values, std::size_t count, void* stream) const {
  STAGHORN_NCCL_CHECK(*state_,
                      all_reduce(values, values, count, int64, add, state_->handle, static_cast<cudaStream_t>(stream)));
}

std::string NcclCommunicator::await(const std::function<bool()>& reached, double limit_seconds) const {
  const double begin = wall_seconds();
  while (!reached()) {
    if (state_->alarm) state_->alarm->hear();
    Status status = 0;
    STAGHORN_NCCL_CHECK(*state_, get_async_error(state_->handle, &status));
    if (status != 0) return std::string("NCCL: ") + state_->nccl.status_text(status);
    if (limit_seconds > 0 && wall_seconds() - begin > limit_seconds)
      return "NCCL: no answer from another rank for " + three_digits(limit_seconds) + " s";
    std::this_thread::yield();
  }
  return {};
}

void NcclCommunicator::give_up() noexcept { state_->call_off(); }

NcclCommunicator& nccl_communicator(const Communicator& communicator) {
  using Known = std::map<cuda::DeviceId, std::unique_ptr<NcclCommunicator>>;
  std::unique_ptr<NcclCommunicator>& known = communicator_attribute<Known>(communicator)[cuda::device_id()];
  if (communicator.any(!known)) known = std::make_unique<NcclCommunicator>(communicator);
  return *known;
}

std::string nccl_obstacle(const Communicator& communicator) {
  try {
    communicator.agree([] { Library(); });
  } catch (const Error& error) {
    return error.what();
  }
  return ranks_share_a_gpu(communicator) ? "several ranks share a GPU" : "";
}

}  // namespace staghorn
