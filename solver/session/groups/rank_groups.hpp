// The ranks of a job as groups of like many that work side by side, each on a lattice of its own.
#pragma once

#include <optional>
#include <vector>

#include "halo/communicator.hpp"

namespace staghorn {

class RankGroups {
 public:
  // Cuts `all` into `count` groups; ranks of one host go together where the numbers allow it. `cuda_device`: the GPU of
  // this rank, -1 for the CPU. `all` must outlive the groups. Throws Error on every rank where `count` does not divide
  // the ranks. Collective.
  RankGroups(const Communicator& all, int count, int cuda_device);

  const Communicator& all() const { return all_; }
  const Communicator& mine() const { return *mine_; }  // knows its sharers
  int count() const { return count_; }
  int number() const { return number_; }  // of this rank's group, from 0; rank 0 of all is in group 0
  int hosts() const { return hosts_; }    // of all ranks

 private:
  const Communicator& all_;
  int count_, number_ = 0, hosts_ = 1;
  std::optional<Communicator> mine_;
};

// The place of each rank when ranks are sorted by host, ranks of one host as they were. Local.
std::vector<int> places_by_host(const std::vector<int>& hosts);

}  // namespace staghorn
