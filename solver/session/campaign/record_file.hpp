// The record of a campaign on the disk, at a cost that grows with the number of configurations, not with its square.
// Private to this folder. Collective.
//
// The report is written anew whenever it has grown by a quarter. In between, what changes is added as a line to
// unfinished_file(report), whose first line says of which request it is. A line counts once its newline is there. So
// whenever a call is killed, the report and the lines together say what is done.
#pragma once

#include <string>

#include "halo/communicator.hpp"
#include "lattice_io/files/output_file.hpp"
#include "solver/session/campaign/campaign_record.hpp"

namespace staghorn {

class RecordFile {
 public:
  // Of the report `path`, which is claimed already. Throws Error where another job writes to the file of lines, or
  // where that is something else. `communicator` must outlive this.
  RecordFile(const Communicator& communicator, const std::string& path);

  // Has `record` take over what an earlier call left.
  void go_on(CampaignRecord& record) const;
  // Puts what the record knows of this part on the disk.
  void keep(const CampaignRecord& record, std::size_t part);
  // Writes the whole report, and removes the lines.
  void end(const CampaignRecord& record);

 private:
  void write_whole(const CampaignRecord& record);

  const Communicator& communicator_;
  const std::string path_, lines_;
  ClaimedNames names_;
  bool has_begun_ = false;
  std::size_t whole_bytes_ = 0, line_bytes_ = 0;  // of the report on the disk, and added since
};

}  // namespace staghorn
