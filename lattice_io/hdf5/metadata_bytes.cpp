#include "lattice_io/hdf5/metadata_bytes.hpp"

#include <algorithm>
#include <bit>

#include "halo/watch/error.hpp"
#include "lattice_io/files/checksums.hpp"
#include "lattice_io/files/header_text.hpp"

namespace staghorn {

namespace {

// The bytes [at, at + 4) as a number; bytes behind the end count as zeros.
std::uint32_t word(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t k = 0; k < 4 && at + k < bytes.size(); ++k)
    value |= std::uint32_t(static_cast<unsigned char>(bytes[at + k])) << (8 * k);
  return value;
}

}  // namespace

// [B. Jenkins, "lookup3.c", 2006, public domain]
std::uint32_t lookup3(std::string_view bytes) {
  std::uint32_t a = 0xdeadbeef + std::uint32_t(bytes.size()), b = a, c = a;
  std::size_t at = 0;
  for (; bytes.size() - at > 12; at += 12) {
    a += word(bytes, at), b += word(bytes, at + 4), c += word(bytes, at + 8);
    a = (a - c) ^ std::rotl(c, 4), c += b;
    b = (b - a) ^ std::rotl(a, 6), a += c;
    c = (c - b) ^ std::rotl(b, 8), b += a;
    a = (a - c) ^ std::rotl(c, 16), c += b;
    b = (b - a) ^ std::rotl(a, 19), a += c;
    c = (c - b) ^ std::rotl(b, 4), b += a;
  }
  if (at == bytes.size()) return c;
  a += word(bytes, at), b += word(bytes, at + 4), c += word(bytes, at + 8);
  c = (c ^ b) - std::rotl(b, 14);
  a = (a ^ c) - std::rotl(c, 11);
  b = (b ^ a) - std::rotl(a, 25);
  c = (c ^ b) - std::rotl(b, 16);
  a = (a ^ c) - std::rotl(c, 4);
  b = (b ^ a) - std::rotl(a, 14);
  c = (c ^ b) - std::rotl(b, 24);
  return c;
}

std::string_view MetadataBytes::take(std::uint64_t n_bytes) {
  if (n_bytes > left())
    throw FileError(what_ + " is damaged", std::to_string(n_bytes) + " more bytes", std::to_string(left()));
  const std::string_view taken = std::string_view(bytes_).substr(at_, n_bytes);
  at_ += n_bytes;
  return taken;
}

std::uint64_t MetadataBytes::number(int n_bytes) {
  std::uint64_t value = 0;
  int shift = 0;
  for (const char byte : take(std::uint64_t(n_bytes))) {
    value |= std::uint64_t(static_cast<unsigned char>(byte)) << shift;
    shift += 8;
  }
  return value;
}

std::string MetadataBytes::text(std::uint64_t n_bytes) { return std::string(take(n_bytes)); }

std::string MetadataBytes::text_up_to_zero() {
  const std::size_t zero = bytes_.find('\0', at_);
  if (zero == std::string::npos) throw FileError(what_ + " is damaged", "a name that ends", "none");
  std::string name = text(zero - at_);
  ++at_;
  return name;
}

MetadataBytes MetadataBytes::part(std::uint64_t n_bytes, const std::string& what) { return {text(n_bytes), what}; }

void MetadataBytes::skip_to_multiple_of_8() { skip((8 - at_ % 8) % 8); }

void MetadataBytes::require_text(std::string_view expected) {
  if (take(expected.size()) != expected)
    throw FileError(what_ + " is damaged", "'" + printable(std::string(expected)) + "'", "other bytes");
}

std::uint64_t MetadataBytes::require_number(int n_bytes, const char* meaning, std::uint64_t lowest,
                                            std::uint64_t highest) {
  const std::uint64_t value = number(n_bytes);
  if (value < lowest || value > highest)
    throw FileError(what_ + ": " + meaning,
                    lowest == highest ? std::to_string(lowest)
                                      : "a number from " + std::to_string(lowest) + " to " + std::to_string(highest),
                    value);
  return value;
}

void MetadataBytes::require_checksum() {
  const std::uint32_t computed = lookup3(std::string_view(bytes_).substr(0, at_));
  const auto stored = std::uint32_t(number(4));
  if (stored != computed)
    throw FileError(what_ + " is damaged: checksum stored " + hexadecimal(stored) + ", computed " +
                    hexadecimal(computed));
}

std::string little_endian(std::uint64_t value, int n_bytes) {
  std::string bytes;
  for (int k = 0; k < n_bytes; ++k) bytes += char(value >> (8 * k) & 0xff);
  return bytes;
}

}  // namespace staghorn
