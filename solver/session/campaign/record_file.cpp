#include "solver/session/campaign/record_file.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "halo/watch/error.hpp"
#include "lattice_io/files/posix_file.hpp"
#include "lattice_io/files/text_file.hpp"

namespace staghorn {

namespace {

constexpr std::size_t always_whole = std::size_t{1} << 18;  // bytes: smaller reports are written anew each time
constexpr std::size_t lines_of_whole = 4;                   // else when the lines have one part in so many of its bytes

bool is_there(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

}  // namespace

RecordFile::RecordFile(const Communicator& communicator, const std::string& path)
    : communicator_(communicator), path_(path), lines_(unfinished_file(path)), names_(communicator) {
  names_.claim(lines_, true);
  communicator_.agree([&] {
    if (!communicator_.is_root() || !is_there(lines_)) return;
    const PosixFile file = PosixFile::open_to_read(lines_);
    const std::string start = CampaignRecord::start_of_lines;
    const std::string found = file.read_text(0, std::min(file.size(), std::int64_t(start.size())));
    if (!start.starts_with(found))
      throw FileError(lines_, "what an earlier call added to the report, or no file", "something else");
  });
}

void RecordFile::go_on(CampaignRecord& record) const {
  const bool has_lines = file_exists(communicator_, lines_);
  record.go_on_from(path_, read_text_file(communicator_, path_),
                    has_lines ? read_text_file(communicator_, lines_) : "");
}

void RecordFile::keep(const CampaignRecord& record, std::size_t part) {
  if (!has_begun_ || whole_bytes_ < always_whole || line_bytes_ * lines_of_whole > whole_bytes_)
    return write_whole(record);
  const std::string line = record.line(part), text = line_bytes_ == 0 ? record.request_line() + line : line;
  communicator_.agree([&] {
    if (!communicator_.is_root()) return;
    const FileSizeSignalBlocked blocked;
    PosixFile file = line_bytes_ == 0 ? PosixFile::create(lines_) : PosixFile::open_to_write(lines_);
    file.write_text(std::int64_t(line_bytes_), text);
    file.flush_and_close();
  });
  line_bytes_ += text.size();
}

void RecordFile::write_whole(const CampaignRecord& record) {
  const std::string text = record.text();
  write_text_file(communicator_, path_, text, true);
  // A call that ends here leaves lines that the report has already: read once more, they change nothing.
  communicator_.agree([&] {
    if (communicator_.is_root() && ::unlink(lines_.c_str()) != 0 && is_there(lines_))
      throw FileError(lines_, "lines of a report, which can be removed", "a file that cannot");
  });
  has_begun_ = true;
  whole_bytes_ = text.size();
  line_bytes_ = 0;
}

void RecordFile::end(const CampaignRecord& record) { write_whole(record); }

}  // namespace staghorn
