#include "halo/transport/peer_memory.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "halo/cuda/device_scope.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

template <class T>
std::vector<T> gather(const Communicator& communicator, const T& mine) {
  if (communicator.is_alone()) return {mine};
  std::vector<T> all(std::size_t(communicator.size()));
  communicator.enter();
  check_mpi(MPI_Allgather(&mine, int(sizeof(T)), MPI_BYTE, all.data(), int(sizeof(T)), MPI_BYTE, communicator.handle()),
            "MPI_Allgather");
  return all;
}

}  // namespace

PeerMemory::PeerMemory(const Communicator& communicator, std::size_t bytes) {
  // IPC opens whole allocations: a small one could share its pages with others.
  constexpr std::size_t page = std::size_t{2} << 20;
  cuda::IpcHandle mine{};
  communicator.agree([&] {
    shared_ = std::make_shared<Shared>(communicator.rank(), (head + bytes + page - 1) / page * page);
    if (communicator.alarm()) communicator.alarm()->keep(shared_);
    if (communicator.size() > 1) mine = shared_->handle();
  });
  const std::vector<cuda::IpcHandle> handles = gather(communicator, mine);
  communicator.agree([&] { shared_->open(handles); });
}

bool PeerMemory::is_called_off() const {
  std::uint64_t word = 0;
  cuda::copy_to_host(&word, called_off(), sizeof word);
  return word != 0;
}

PeerMemory::Shared::Shared(int rank, std::size_t bytes)
    : rank_(rank), device_(cuda::selected_device()), own_(bytes, MemorySpace::cuda) {
  cuda::synchronize();  // it is only queued that own_ is zero, and others would store into it before
}

PeerMemory::Shared::~Shared() { close(); }

void PeerMemory::Shared::close() noexcept {
  for (std::size_t rank = 0; rank < places_.size(); ++rank)
    if (int(rank) != rank_ && places_[rank]) cuda::ipc_close(std::exchange(places_[rank], nullptr));
}

void PeerMemory::Shared::open(const std::vector<cuda::IpcHandle>& handles) {
  places_.assign(handles.size(), nullptr);
  for (std::size_t rank = 0; rank < handles.size(); ++rank)
    places_[rank] = int(rank) == rank_ ? own_.data() : static_cast<std::byte*>(cuda::ipc_open(handles[rank]));
}

// Where the GPU of this rank cannot store any more, kernels of other ranks wait as long as they may.
void PeerMemory::Shared::call_off() noexcept {
  try {
    const cuda::DeviceScope here(device_);
    for (std::size_t rank = 0; rank < places_.size(); ++rank)
      if (places_[rank]) cuda::store_beside(word(int(rank)), 1);
  } catch (const Error&) {
  }
}

void PeerMemory::Shared::come_to_rest() noexcept {
  try {
    const cuda::DeviceScope here(device_);
    cuda::come_to_rest();
    close();
  } catch (const Error&) {
  }
}

bool ranks_share_a_gpu(const Communicator& communicator) {
  std::vector<cuda::DeviceId> devices = gather(communicator, cuda::device_id());
  std::sort(devices.begin(), devices.end());
  return std::adjacent_find(devices.begin(), devices.end()) != devices.end();
}

std::string peer_count_obstacle(int ranks) {
  if (ranks <= most_peers) return {};
  return "at most " + std::to_string(most_peers) + " ranks can use it, there are " + std::to_string(ranks);
}

std::string peer_obstacle(const Communicator& communicator) {
  if (communicator.size() == 1) return {};
  if (const std::string obstacle = peer_count_obstacle(communicator.size()); !obstacle.empty()) return obstacle;
  MPI_Comm host = MPI_COMM_NULL;
  communicator.enter();
  check_mpi(MPI_Comm_split_type(communicator.handle(), MPI_COMM_TYPE_SHARED, communicator.rank(), MPI_INFO_NULL, &host),
            "MPI_Comm_split_type");
  int on_host = 0;
  MPI_Comm_size(host, &on_host);
  MPI_Comm_free(&host);
  if (communicator.any(on_host != communicator.size())) return "the ranks are on several hosts";
  return ranks_share_a_gpu(communicator) ? "several ranks share a GPU" : "";
}

}  // namespace staghorn
