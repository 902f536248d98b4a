// MILC version 5: a binary header of 88 bytes, two checksums, and the links in fp32, in either byte order.
//
//   int32 magic = 20103 | int32 X, Y, Z, T | char time_stamp[64] | int32 order | uint32 sum29, sum31 | links
//
// The byte order is that of the machine that wrote the file: the magic number tells. order = 0 is the natural
// (lexicographic) order of sites; anything else is the dump of a process grid that only MILC itself can undo.
#include <algorithm>
#include <array>

#include "halo/watch/error.hpp"
#include "lattice_io/files/byte_order.hpp"
#include "lattice_io/files/checksums.hpp"
#include "lattice_io/files/header_text.hpp"
#include "lattice_io/gauge/gauge_format.hpp"

namespace staghorn {

namespace {

constexpr std::uint32_t magic = 20103;
constexpr std::size_t stamp_bytes = 64;
constexpr std::int64_t milc_header_bytes = 4 + 4 * 4 + stamp_bytes + 4 + 2 * 4;

class MilcFrame : public GaugeFrame {
 public:
  MilcFrame(const GaugeHeader& header, const Metadata& metadata)
      : header_(header), time_stamp_(value_or(metadata, "time_stamp", creation_date())) {}

  std::vector<std::int64_t> begin(const std::string&) override { return {milc_header_bytes}; }

  void finish(const std::string& path, const GaugeNumbers& numbers) override {
    std::array<std::byte, milc_header_bytes> bytes{};
    std::byte* at = bytes.data();
    const auto put = [&](std::uint32_t word) {
      store_word(at, word, header_.big_endian);
      at += 4;
    };
    put(magic);
    for (const int extent : header_.extents) put(std::uint32_t(extent));
    std::memcpy(at, time_stamp_.data(), std::min(time_stamp_.size(), stamp_bytes - 1));
    at += stamp_bytes;
    put(0);  // natural order
    for (const char* name : {"sum29", "sum31"}) put(std::uint32_t(std::stoul(numbers.checksums.at(name), nullptr, 16)));
    PosixFile file = PosixFile::open_to_write(path);
    file.write(0, bytes);
    file.flush_and_close();
  }

 private:
  GaugeHeader header_;
  std::string time_stamp_;
};

}  // namespace

GaugeHeader read_milc_header(const PosixFile& file) {
  std::array<std::byte, milc_header_bytes> bytes{};
  file.read(0, bytes);
  GaugeHeader header;
  header.path = file.path();
  header.format = GaugeFormat::milc;
  header.big_endian = load_word<std::uint32_t>(bytes.data(), true) == magic;
  header.data_offset = milc_header_bytes;
  const auto word = [&](std::size_t at) { return load_word<std::uint32_t>(bytes.data() + at, header.big_endian); };
  for (std::size_t mu = 0; mu < 4; ++mu) header.extents[mu] = int(word(4 + 4 * mu));
  require_usable_extents(file.path(), header.extents);
  const std::string stamp(reinterpret_cast<const char*>(bytes.data()) + 20, stamp_bytes);
  header.fields = {{"magic", std::to_string(magic)},
                   {"time_stamp", printable(stamp.substr(0, stamp.find('\0')))},
                   {"order", std::to_string(word(84))}};
  if (word(84) != 0)
    throw FileError(file.path() + ": MILC site order", "0 (natural order)",
                    std::to_string(word(84)) + " (a checkpoint of MILC's own process grid)");
  header.checksums = {{"sum29", hexadecimal(word(88))}, {"sum31", hexadecimal(word(92))}};
  const std::int64_t trailing = require_complete(file, header);
  if (trailing > 0) header.warnings.push_back(std::to_string(trailing) + " bytes follow the links and are ignored");
  return header;
}

std::unique_ptr<GaugeFrame> milc_frame(const GaugeHeader& header, const Metadata& metadata) {
  if (header.precision != Precision::fp32)
    throw Error(header.path + ": MILC format", "precision fp32 (it has no other)",
                to_string(header.precision) + "; `precision` fp32 rounds the links to it");
  return std::make_unique<MilcFrame>(header, metadata);
}

}  // namespace staghorn
