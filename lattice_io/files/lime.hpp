// LIME, the container of SciDAC and ILDG files: a sequence of typed records, grouped into messages. Local.
//
//   144-byte header: uint32 magic = 456789ab | uint16 version = 1 | uint16 flags | uint64 data bytes | char type[128]
//   data, padded with zeros to a multiple of 8 bytes
//
// All integers are big-endian. Flag bits 8000 and 4000 mark the first and the last record of a message.
// [B. Joo, W. Watson, "Lime", USQCD 2004]
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lattice_io/files/posix_file.hpp"

namespace staghorn {

struct LimeRecord {
  std::string type;
  std::int64_t offset;  // of the data
  std::int64_t bytes;   // of the data, without padding
};

struct LimeContents {
  std::vector<LimeRecord> records;
  std::int64_t trailing_bytes = 0;    // behind the last record, not LIME
  std::vector<std::string> warnings;  // what is not as LIME has it, but can be read

  std::string types() const;  // of the first records, for messages
};

constexpr std::uint32_t lime_magic = 0x456789ab;

// The records of a file. Padding between records may be missing. Throws Error naming the record whose data are cut
// short.
LimeContents read_lime_records(const PosixFile& file);

enum class LimePlace { first, middle, last };  // of a message
constexpr std::int64_t lime_header_bytes = 144;

// The 144 bytes in front of `data_bytes` of data.
std::string lime_record_header(const std::string& type, std::int64_t data_bytes, LimePlace place);
// Header, data and padding.
std::string lime_record(const std::string& type, const std::string& data, LimePlace place);
constexpr std::int64_t lime_padding(std::int64_t data_bytes) { return (8 - data_bytes % 8) % 8; }

}  // namespace staghorn
