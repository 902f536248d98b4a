#include "lattice_io/files/lime.hpp"

#include <algorithm>
#include <array>

#include "halo/watch/error.hpp"
#include "lattice_io/files/byte_order.hpp"
#include "lattice_io/files/header_text.hpp"

namespace staghorn {

std::string LimeContents::types() const {
  constexpr std::size_t most = 12;
  std::string text;
  for (std::size_t k = 0; k < std::min(most, records.size()); ++k) text += (k == 0 ? "" : ", ") + records[k].type;
  return text + (records.size() > most ? " and " + std::to_string(records.size() - most) + " more" : "");
}

LimeContents read_lime_records(const PosixFile& file) {
  LimeContents contents;
  const std::int64_t file_bytes = file.size();
  if (file_bytes < lime_header_bytes)
    throw FileError(file.path() + " is truncated", "a LIME header of " + std::to_string(lime_header_bytes) + " bytes",
                    std::to_string(file_bytes));
  std::int64_t at = 0;
  std::int64_t padding = 0;  // in front of `at`
  const auto begins_record = [&](std::int64_t byte) {
    std::array<std::byte, 4> word{};
    if (byte + lime_header_bytes > file_bytes) return false;
    file.read(byte, word);
    return load_word<std::uint32_t>(word.data(), true) == lime_magic;
  };
  while (true) {
    if (!begins_record(at) && padding > 0 && begins_record(at - padding)) {
      at -= padding;
      contents.warnings.push_back("no padding in front of the LIME record at byte " + std::to_string(at));
    }
    if (!begins_record(at)) break;
    std::array<std::byte, lime_header_bytes> bytes{};
    file.read(at, bytes);
    const auto version = load_word<std::uint16_t>(bytes.data() + 4, true);
    if (version != 1) throw FileError(file.path() + ": LIME version at byte " + std::to_string(at), 1, version);
    const char* type = reinterpret_cast<const char*>(bytes.data()) + 16;
    const auto length = load_word<std::uint64_t>(bytes.data() + 8, true);
    LimeRecord record{printable(std::string(type, std::find(type, type + 128, '\0'))), at + lime_header_bytes, 0};
    if (length > std::uint64_t(file_bytes - record.offset))
      throw FileError(file.path() + " is truncated or damaged in the LIME record " + record.type + " at byte " +
                          std::to_string(record.offset),
                      std::to_string(length) + " bytes of data", std::to_string(file_bytes - record.offset));
    record.bytes = std::int64_t(length);
    padding = lime_padding(record.bytes);
    at = record.offset + record.bytes + padding;
    if (at > file_bytes) {
      at = file_bytes;
      padding = 0;
    }
    contents.records.push_back(std::move(record));
  }
  at = std::min(at, file_bytes);
  contents.trailing_bytes = file_bytes - at;
  return contents;
}

std::string lime_record_header(const std::string& type, std::int64_t data_bytes, LimePlace place) {
  std::array<std::byte, lime_header_bytes> bytes{};
  store_word(bytes.data(), lime_magic, true);
  store_word(bytes.data() + 4, std::uint16_t(1), true);
  const std::uint16_t flags = place == LimePlace::first ? 0x8000 : place == LimePlace::last ? 0x4000 : 0;
  store_word(bytes.data() + 6, flags, true);
  store_word(bytes.data() + 8, std::uint64_t(data_bytes), true);
  std::memcpy(bytes.data() + 16, type.data(), std::min<std::size_t>(type.size(), 127));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::string lime_record(const std::string& type, const std::string& data, LimePlace place) {
  const auto data_bytes = std::int64_t(data.size());
  return lime_record_header(type, data_bytes, place) + data + std::string(std::size_t(lime_padding(data_bytes)), '\0');
}

}  // namespace staghorn
