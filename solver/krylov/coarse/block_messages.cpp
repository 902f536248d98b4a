#include "solver/krylov/coarse/block_messages.hpp"

#include <algorithm>
#include <climits>
#include <utility>

#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

constexpr int tag = 47;

}  // namespace

BlockMessages::BlockMessages(const Communicator& communicator, Items sent, Items received)
    : communicator_(communicator), sent_(std::move(sent)), received_(std::move(received)) {
  const int size = communicator.size();
  std::vector<double> most(std::size_t(size), 0);
  for (const auto& [rank, items] : sent_)
    most[std::size_t((rank - communicator.rank() + size) % size)] = double(items.size());
  communicator.max(most);
  for (const double items : most) most_.push_back(std::int64_t(items));
}

// In round `shift` each rank sends to the one that is so many ranks further on. All messages of a round are as long as
// its longest.
void BlockMessages::exchange(std::int64_t numbers, const std::function<void(std::int64_t, double*)>& pack,
                             const std::function<void(std::int64_t, const double*)>& unpack) const {
  const int size = communicator_.size(), me = communicator_.rank();
  std::vector<double> out, in;
  for (int shift = 1; shift < size; ++shift) {
    const std::int64_t length = most_[std::size_t(shift)] * numbers;
    if (length == 0) continue;
    if (length > INT_MAX) throw Error("blocks for a neighbouring rank", "less than 16 GiB", length);
    out.resize(std::size_t(length));
    in.resize(std::size_t(length));
    const int to = (me + shift) % size, from = (me - shift + size) % size;
    if (const auto items = sent_.find(to); items != sent_.end())
      for (std::size_t k = 0; k < items->second.size(); ++k)
        pack(items->second[k], out.data() + std::int64_t(k) * numbers);
    communicator_.exchange(to, out.data(), from, in.data(), int(length), MPI_DOUBLE, tag);
    if (const auto items = received_.find(from); items != received_.end())
      for (std::size_t k = 0; k < items->second.size(); ++k)
        unpack(items->second[k], in.data() + std::int64_t(k) * numbers);
  }
}

}  // namespace staghorn
