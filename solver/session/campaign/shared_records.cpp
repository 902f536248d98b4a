#include "solver/session/campaign/shared_records.hpp"

#include <utility>

#include "halo/watch/error.hpp"
#include "lattice_io/files/output_file.hpp"
#include "lattice_io/files/text_file.hpp"

namespace staghorn {

SharedRecords::SharedRecords(const Communicator& communicator, std::vector<std::string> paths)
    : communicator_(communicator), paths_(std::move(paths)) {}

void SharedRecords::read(CampaignRecord& record, std::size_t part) const {
  const std::string& path = paths_[part];
  if (!file_exists(communicator_, path)) return;
  record.go_on_from(path, read_text_file(communicator_, path), "", part);
}

bool SharedRecords::take(CampaignRecord& record, std::size_t part) {
  std::string held_by;
  communicator_.agree([&] {
    if (!communicator_.is_root()) return;
    lock_ = NameLock::take_if_free(paths_[part], written_file(paths_[part]).string(), held_by);
  });
  held_by = communicator_.broadcast(held_by);
  if (!held_by.empty()) {
    record.left_to_another(part, held_by);
    return false;
  }
  read(record, part);
  return true;
}

void SharedRecords::keep(const CampaignRecord& record, std::size_t part) const {
  write_text_file(communicator_, paths_[part], record.text(part), true);
}

}  // namespace staghorn
