// A report for each configuration, so that several jobs share a campaign: a job works on a configuration while it holds
// the lock of the name of its report. Private to this folder. Collective.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "halo/communicator.hpp"
#include "lattice_io/names/name_lock.hpp"
#include "solver/session/campaign/campaign_record.hpp"

namespace staghorn {

class SharedRecords {
 public:
  // `paths`: the report of each configuration. `communicator` must outlive this.
  SharedRecords(const Communicator& communicator, std::vector<std::string> paths);

  // Has `record` take over what the report of a configuration says, if it is there. Throws Error where that is
  // something else, or of another request.
  void read(CampaignRecord& record, std::size_t part) const;
  // Whether this job works on the configuration from now on. Then `record` knows what the report says, which no other
  // job changes until `give_up`. Else another job holds it, and `record` says which.
  bool take(CampaignRecord& record, std::size_t part);
  // Puts what `record` knows of the configuration on the disk.
  void keep(const CampaignRecord& record, std::size_t part) const;
  void give_up() { lock_.reset(); }

 private:
  const Communicator& communicator_;
  const std::vector<std::string> paths_;
  std::optional<NameLock> lock_;  // of rank 0
};

}  // namespace staghorn
