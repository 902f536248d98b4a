#include "solver/session/groups/rank_groups.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "halo/available_memory.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

std::vector<int> places_by_host(const std::vector<int>& hosts) {
  std::vector<int> ranks(hosts.size()), places(hosts.size());
  std::iota(ranks.begin(), ranks.end(), 0);
  std::stable_sort(ranks.begin(), ranks.end(),
                   [&](int a, int b) { return hosts[std::size_t(a)] < hosts[std::size_t(b)]; });
  for (std::size_t place = 0; place < ranks.size(); ++place) places[std::size_t(ranks[place])] = int(place);
  return places;
}

RankGroups::RankGroups(const Communicator& all, int count, int cuda_device) : all_(all), count_(count) {
  if (count < 1 || all.size() % count != 0)
    throw Error("split", "a number of groups that divides the " + std::to_string(all.size()) + " ranks", count);
  const std::vector<int> hosts = all.hosts();
  hosts_ = *std::max_element(hosts.begin(), hosts.end()) + 1;
  const int place = places_by_host(hosts)[std::size_t(all.rank())], size = all.size() / count;
  number_ = place / size;
  const HostSharers sharers = count_sharers(all, cuda_device);
  mine_.emplace(all.split(number_, place));
  mine_->set_sharers(sharers);
}

}  // namespace staghorn
