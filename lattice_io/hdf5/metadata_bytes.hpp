// Bytes of HDF5 metadata: read with bounds, written, and their checksum. All integers are little-endian. Local.
//
// Every number of a damaged file may be anything. A MetadataBytes therefore throws Error rather than read past its end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace staghorn {

constexpr std::uint64_t undefined_address = ~std::uint64_t{0};

// Bob Jenkins's lookup3 hash with initial value 0, which HDF5 puts behind its newer metadata.
std::uint32_t lookup3(std::string_view bytes);

// A block of metadata, read from its beginning to its end.
class MetadataBytes {
 public:
  // `what` names the file and the block in messages.
  MetadataBytes(std::string bytes, std::string what) : bytes_(std::move(bytes)), what_(std::move(what)) {}

  std::uint64_t number(int n_bytes);  // 1 to 8 bytes
  std::uint64_t address() { return number(8); }
  std::string text(std::uint64_t n_bytes);
  std::string text_up_to_zero();  // the zero is taken, too
  MetadataBytes part(std::uint64_t n_bytes, const std::string& what);
  void skip(std::uint64_t n_bytes) { take(n_bytes); }
  void skip_to_multiple_of_8();  // counted from the beginning of the block

  std::uint64_t at() const { return at_; }
  std::uint64_t left() const { return bytes_.size() - at_; }
  const std::string& what() const { return what_; }

  // Throws Error unless the next bytes are `expected`.
  void require_text(std::string_view expected);
  // Throws Error unless the next n_bytes are a number from `lowest` to `highest`; returns it.
  std::uint64_t require_number(int n_bytes, const char* meaning, std::uint64_t lowest, std::uint64_t highest);
  // Throws Error unless the next four bytes are the lookup3 checksum of all bytes before them.
  void require_checksum();

 private:
  std::string_view take(std::uint64_t n_bytes);

  std::string bytes_, what_;
  std::uint64_t at_ = 0;
};

// `value` as n_bytes bytes.
std::string little_endian(std::uint64_t value, int n_bytes);

}  // namespace staghorn
