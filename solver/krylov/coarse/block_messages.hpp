// What ranks send each other block by block: items that one rank has and others need.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "halo/communicator.hpp"

namespace staghorn {

class BlockMessages {
 public:
  // For each other rank the items that it needs from this one, and those that this one needs from it; both ranks name
  // an item by the same number, and list them in ascending order. Collective.
  using Items = std::map<int, std::vector<std::int64_t>>;
  BlockMessages(const Communicator& communicator, Items sent, Items received);

  // Items of `numbers` doubles: pack(item, to) writes one that is sent, unpack(item, from) takes one that came, in the
  // order of ranks and items. Collective.
  void exchange(std::int64_t numbers, const std::function<void(std::int64_t, double*)>& pack,
                const std::function<void(std::int64_t, const double*)>& unpack) const;

 private:
  const Communicator& communicator_;
  Items sent_, received_;
  std::vector<std::int64_t> most_;  // items of the largest message from rank r to rank r + shift, for each shift
};

}  // namespace staghorn
