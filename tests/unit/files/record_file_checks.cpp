// The record of a campaign on the disk: what it costs, and what is known whenever a call is killed.
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "solver/session/campaign/record_file.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

namespace fs = std::filesystem;

struct Folder {
  fs::path path;
  Folder() {
    char name[] = "/tmp/staghorn-record-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~Folder() { fs::remove_all(path); }
  std::string report() const { return (path / "c.json").string(); }
  std::string lines() const { return (path / "c.json.unfinished").string(); }
};

CampaignRecord record_of(int parts) {
  std::vector<std::string> gauges;
  for (int k = 0; k < parts; ++k) gauges.push_back("q_" + std::to_string(k) + ".h5");
  return CampaignRecord({{"masses", "0.1"}}, {0.1}, {"wall:0"}, gauges);
}

// Bytes that were written: those of each new report, known by its inode and size, and those of the lines.
class WrittenBytes {
 public:
  explicit WrittenBytes(const Folder& folder) : folder_(folder) {}

  void look() {
    struct stat report {
    }, lines{};
    ::stat(folder_.report().c_str(), &report);
    const long added = ::stat(folder_.lines().c_str(), &lines) == 0 ? long(lines.st_size) : 0;
    if (report.st_ino != inode_ || report.st_size != size_) total += report.st_size;
    inode_ = report.st_ino;
    size_ = report.st_size;
    total += added - (added < added_ ? 0 : added_);
    added_ = added;
  }

  long total = 0;

 private:
  const Folder& folder_;
  ino_t inode_ = 0;
  long size_ = 0, added_ = 0;
};

// Whole reports alone would be written as often as there are configurations.
bool a_record_costs_a_few_times_its_size() {
  constexpr int parts = 1400;
  const Communicator communicator;
  const Folder folder;
  const Error error(std::string(300, 'x'));
  CampaignRecord record = record_of(parts);
  WrittenBytes written(folder);
  long size = 0;
  {
    RecordFile file(communicator, folder.report());
    for (std::size_t part = 0; part < parts; ++part) {
      record.begins(part, "hash", {});
      file.keep(record, part);
      written.look();
      record.fails(part, error);
      file.keep(record, part);
      written.look();
      constexpr long far_too_many = 50'000'000;
      if (written.total > far_too_many) return CHECK(written.total <= far_too_many);
    }
    file.end(record);
    size = long(fs::file_size(folder.report()));
  }
  return CHECK(written.total < 10 * size) && CHECK(written.total > size) &&
         CHECK(std::distance(fs::directory_iterator(folder.path), {}) == 1);
}

// After each change another record goes on from what is on the disk.
bool a_record_is_known_whenever_its_call_ends() {
  constexpr int parts = 400;
  const Communicator communicator;
  const Folder folder;
  const Error error(std::string(2000, 'x'));
  CampaignRecord record = record_of(parts);
  int wrong = 0, with_lines = 0;
  RecordFile file(communicator, folder.report());
  for (std::size_t part = 0; part < parts; ++part) {
    record.begins(part, "hash", {});
    file.keep(record, part);
    record.fails(part, error);
    file.keep(record, part);
    if (part % 7 != 0) continue;
    with_lines += fs::exists(folder.lines());
    CampaignRecord found = record_of(parts);
    file.go_on(found);
    wrong += found.count("failed") != int(part) + 1 || found.parts() != record.parts();
  }
  return CHECK(wrong == 0) && CHECK(with_lines > 10);
}

}  // namespace

std::vector<UnitCheck> record_file_checks() {
  return {UNIT_CHECK(a_record_costs_a_few_times_its_size), UNIT_CHECK(a_record_is_known_whenever_its_call_ends)};
}

}  // namespace staghorn
