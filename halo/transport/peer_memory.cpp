#include "halo/transport/peer_memory.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "halo/cuda/cuda_device.hpp"
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

PeerMemory::PeerMemory(const Communicator& communicator, std::size_t bytes) : rank_(communicator.rank()) {
  // IPC opens whole allocations: a small one could share its pages with others.
  constexpr std::size_t page = std::size_t{2} << 20;
  cuda::IpcHandle mine{};
  communicator.agree([&] {
    own_ = Buffer((bytes + page - 1) / page * page, MemorySpace::cuda);
    if (communicator.size() > 1) mine = cuda::ipc_handle(own_.data());
  });
  places_.assign(std::size_t(communicator.size()), nullptr);
  const std::vector<cuda::IpcHandle> handles = gather(communicator, mine);
  communicator.agree([&] {
    for (int rank = 0; rank < communicator.size(); ++rank)
      places_[std::size_t(rank)] =
          rank == rank_ ? own_.data() : static_cast<std::byte*>(cuda::ipc_open(handles[std::size_t(rank)]));
  });
}

PeerMemory::~PeerMemory() { close(); }

void PeerMemory::close() noexcept {
  for (int rank = 0; rank < int(places_.size()); ++rank)
    if (rank != rank_ && places_[std::size_t(rank)]) cuda::ipc_close(places_[std::size_t(rank)]);
  places_.clear();
}

PeerMemory::PeerMemory(PeerMemory&& other) noexcept
    : own_(std::move(other.own_)), places_(std::exchange(other.places_, {})), rank_(other.rank_) {}

PeerMemory& PeerMemory::operator=(PeerMemory&& other) noexcept {
  std::swap(own_, other.own_);
  std::swap(places_, other.places_);
  std::swap(rank_, other.rank_);
  return *this;
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
