#include "lattice_io/checksums.hpp"

#include <zlib.h>

#include <bit>
#include <cstdio>
#include <cstdlib>

#include "lattice_io/byte_order.hpp"

namespace staghorn {

std::string hexadecimal(std::uint32_t value) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", unsigned(value));
  return text;
}

namespace {

class MilcChecksum : public SiteChecksum {
 public:
  MilcChecksum(std::int64_t bytes_per_site, bool big_endian)
      : words_per_site_(bytes_per_site / 4), big_endian_(big_endian) {}

  void add(std::int64_t first_site, std::span<const std::byte> sites) override {
    int rank29 = int(first_site * words_per_site_ % 29), rank31 = int(first_site * words_per_site_ % 31);
    for (std::size_t at = 0; at < sites.size(); at += 4) {
      const auto word = load_word<std::uint32_t>(sites.data() + at, big_endian_);
      sum29_ ^= std::rotl(word, rank29);
      sum31_ ^= std::rotl(word, rank31);
      if (++rank29 == 29) rank29 = 0;
      if (++rank31 == 31) rank31 = 0;
    }
  }

  std::map<std::string, std::string> combine(const Communicator& communicator) const override {
    return {{"sum29", hexadecimal(communicator.exclusive_or(sum29_))},
            {"sum31", hexadecimal(communicator.exclusive_or(sum31_))}};
  }

 private:
  std::int64_t words_per_site_;
  bool big_endian_;
  std::uint32_t sum29_ = 0, sum31_ = 0;
};

class NerscChecksum : public SiteChecksum {
 public:
  explicit NerscChecksum(bool big_endian) : big_endian_(big_endian) {}

  // The two halves of a 64-bit real are words like any others; their order does not matter to the sum.
  void add(std::int64_t, std::span<const std::byte> sites) override {
    for (std::size_t at = 0; at < sites.size(); at += 4)
      sum_ += load_word<std::uint32_t>(sites.data() + at, big_endian_);
  }

  std::map<std::string, std::string> combine(const Communicator& communicator) const override {
    return {{"nersc", hexadecimal(std::uint32_t(communicator.sum(std::int64_t(sum_))))}};
  }

 private:
  bool big_endian_;
  std::uint32_t sum_ = 0;
};

class ScidacChecksum : public SiteChecksum {
 public:
  explicit ScidacChecksum(std::int64_t bytes_per_site) : bytes_per_site_(bytes_per_site) {}

  void add(std::int64_t first_site, std::span<const std::byte> sites) override {
    for (std::int64_t site = first_site; !sites.empty(); ++site, sites = sites.subspan(bytes_per_site_)) {
      const auto crc =
          std::uint32_t(crc32(0, reinterpret_cast<const Bytef*>(sites.data()), static_cast<uInt>(bytes_per_site_)));
      suma_ ^= std::rotl(crc, int(site % 29));
      sumb_ ^= std::rotl(crc, int(site % 31));
    }
  }

  std::map<std::string, std::string> combine(const Communicator& communicator) const override {
    return {{"suma", hexadecimal(communicator.exclusive_or(suma_))},
            {"sumb", hexadecimal(communicator.exclusive_or(sumb_))}};
  }

 private:
  std::int64_t bytes_per_site_;
  std::uint32_t suma_ = 0, sumb_ = 0;
};

}  // namespace

std::unique_ptr<SiteChecksum> milc_checksum(std::int64_t bytes_per_site, bool big_endian) {
  return std::make_unique<MilcChecksum>(bytes_per_site, big_endian);
}

std::unique_ptr<SiteChecksum> nersc_checksum(bool big_endian) { return std::make_unique<NerscChecksum>(big_endian); }

std::unique_ptr<SiteChecksum> scidac_checksum(std::int64_t bytes_per_site) {
  return std::make_unique<ScidacChecksum>(bytes_per_site);
}

bool same_hexadecimal(const std::string& a, const std::string& b) {
  char *end_a, *end_b;
  const unsigned long value_a = std::strtoul(a.c_str(), &end_a, 16), value_b = std::strtoul(b.c_str(), &end_b, 16);
  return !a.empty() && !b.empty() && *end_a == '\0' && *end_b == '\0' && value_a == value_b;
}

}  // namespace staghorn
