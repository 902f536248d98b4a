#include "lattice_io/files/checksums.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstdlib>

#include "halo/watch/error.hpp"
#include "lattice_io/files/byte_order.hpp"

namespace staghorn {

std::uint32_t crc_of(std::span<const std::byte> bytes) {
  return std::uint32_t(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::string hexadecimal(std::uint32_t value) {
  char text[9];
  std::snprintf(text, sizeof text, "%08x", unsigned(value));
  return text;
}

namespace {

// One thread works through this many words at a time. They are some 56 KiB.
constexpr std::int64_t words_per_range = 29 * 31 * 16;

// Returns the exclusive or of `n` words, word k rotated by (first + k) mod `period` bits. Words of one rotation are
// combined first, then rotated once.
template <int period>
std::uint32_t rotated_sum(std::int64_t first, const std::byte* words, std::int64_t n, bool big_endian) {
  std::array<std::uint32_t, period> sums{};  // element i: words k = i, i + period, ...
  std::int64_t k = 0;
  for (; k + period <= n; k += period)
    for (int i = 0; i < period; ++i) sums[i] ^= load_word<std::uint32_t>(words + 4 * (k + i), big_endian);
  for (int i = 0; k < n; ++k, ++i) sums[i] ^= load_word<std::uint32_t>(words + 4 * k, big_endian);
  std::uint32_t sum = 0;
  for (int i = 0; i < period; ++i) sum ^= std::rotl(sums[i], int((first + i) % period));
  return sum;
}

class MilcChecksum : public SiteChecksum {
 public:
  MilcChecksum(std::int64_t bytes_per_site, bool big_endian)
      : words_per_site_(bytes_per_site / 4), big_endian_(big_endian) {}

  void add(std::int64_t first_site, std::span<const std::byte> sites) override {
    const std::int64_t first_word = first_site * words_per_site_, words = std::int64_t(sites.size()) / 4;
    std::uint32_t sum29 = 0, sum31 = 0;
#pragma omp parallel for schedule(static) reduction(^ : sum29, sum31)
    for (std::int64_t k = 0; k < words; k += words_per_range) {
      const std::int64_t n = std::min(words_per_range, words - k);
      sum29 ^= rotated_sum<29>(first_word + k, sites.data() + 4 * k, n, big_endian_);
      sum31 ^= rotated_sum<31>(first_word + k, sites.data() + 4 * k, n, big_endian_);
    }
    sum29_ ^= sum29;
    sum31_ ^= sum31;
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
    const std::int64_t words = std::int64_t(sites.size()) / 4;
    std::uint32_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (std::int64_t k = 0; k < words; ++k) sum += load_word<std::uint32_t>(sites.data() + 4 * k, big_endian_);
    sum_ += sum;
  }

  std::map<std::string, std::string> combine(const Communicator& communicator) const override {
    return {{"nersc", hexadecimal(std::uint32_t(communicator.sum(std::int64_t(sum_))))}};
  }

 private:
  bool big_endian_;
  std::uint32_t sum_ = 0;
};

std::uint32_t exclusive_or_of_words(const std::byte* from, std::int64_t bytes) {
  std::uint32_t sum = 0;
  for (std::int64_t at = 0; at < bytes; at += 4) sum ^= load_word<std::uint32_t>(from + at, false);
  return sum;
}

// A number for each site, rotated by the site: SciDAC's and PyQUDA's.
class RotatedSites : public SiteChecksum {
 public:
  enum class Of { crc, words };
  RotatedSites(Of of, std::int64_t bytes_per_site) : of_(of), bytes_per_site_(bytes_per_site) {}

  void add(std::int64_t first_site, std::span<const std::byte> sites) override {
    const std::int64_t n_sites = std::int64_t(sites.size()) / bytes_per_site_;
    std::uint32_t suma = 0, sumb = 0;
#pragma omp parallel for schedule(static) reduction(^ : suma, sumb)
    for (std::int64_t i = 0; i < n_sites; ++i) {
      const std::byte* site = sites.data() + i * bytes_per_site_;
      const std::uint32_t number =
          of_ == Of::crc
              ? std::uint32_t(crc32(0, reinterpret_cast<const Bytef*>(site), static_cast<uInt>(bytes_per_site_)))
              : exclusive_or_of_words(site, bytes_per_site_);
      suma ^= std::rotl(number, int((first_site + i) % 29));
      sumb ^= std::rotl(number, int((first_site + i) % 31));
    }
    suma_ ^= suma;
    sumb_ ^= sumb;
  }

  std::map<std::string, std::string> combine(const Communicator& communicator) const override {
    return {{of_ == Of::crc ? "suma" : "sum29", hexadecimal(communicator.exclusive_or(suma_))},
            {of_ == Of::crc ? "sumb" : "sum31", hexadecimal(communicator.exclusive_or(sumb_))}};
  }

 private:
  Of of_;
  std::int64_t bytes_per_site_;
  std::uint32_t suma_ = 0, sumb_ = 0;
};

}  // namespace

std::unique_ptr<SiteChecksum> milc_checksum(std::int64_t bytes_per_site, bool big_endian) {
  return std::make_unique<MilcChecksum>(bytes_per_site, big_endian);
}

std::unique_ptr<SiteChecksum> nersc_checksum(bool big_endian) { return std::make_unique<NerscChecksum>(big_endian); }

std::unique_ptr<SiteChecksum> scidac_checksum(std::int64_t bytes_per_site) {
  return std::make_unique<RotatedSites>(RotatedSites::Of::crc, bytes_per_site);
}

std::unique_ptr<SiteChecksum> pyquda_checksum(std::int64_t bytes_per_site) {
  return std::make_unique<RotatedSites>(RotatedSites::Of::words, bytes_per_site);
}

namespace {

// Whether `stored` is `hexadecimal`, as it should be, or the same number in decimal, as some programs write it.
bool same_number(const std::string& stored, const std::string& hexadecimal) {
  std::uint64_t decimal = 0, value = 0;
  const auto whole = [](const std::string& text, std::uint64_t& number, int base) {
    const auto [stopped, failure] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    return failure == std::errc() && stopped == text.data() + text.size();
  };
  return same_hexadecimal(stored, hexadecimal) ||
         (whole(stored, decimal, 10) && whole(hexadecimal, value, 16) && decimal == value);
}

}  // namespace

ChecksumResults compare_checksums(const std::map<std::string, std::string>& stored,
                                  const std::map<std::string, std::string>& computed) {
  ChecksumResults results;
  for (const auto& [name, value] : computed) {
    const auto found = stored.find(name);
    results[name] = found == stored.end() ? ChecksumResult{"", value, false}
                                          : ChecksumResult{found->second, value, same_number(found->second, value)};
  }
  return results;
}

std::vector<std::string> unverified_checksums(const ChecksumResults& results) {
  std::vector<std::string> texts;
  for (const auto& [name, result] : results)
    if (!result.match)
      texts.push_back(result.stored.empty() ? "no " + name + " (computed " + result.computed + ")"
                                            : name + " stored " + result.stored + ", computed " + result.computed);
  return texts;
}

void require_verified(const std::string& where, const ChecksumResults& results) {
  std::string texts;
  for (const std::string& text : unverified_checksums(results)) texts += (texts.empty() ? "" : "; ") + text;
  if (texts.empty()) return;
  const bool damaged = std::any_of(results.begin(), results.end(),
                                   [](const auto& r) { return !r.second.match && !r.second.stored.empty(); });
  throw FileError(where + (damaged ? " is damaged or not what its header says: " : " cannot be verified: ") + texts +
                  ". The option `no_verify` reads it all the same.");
}

bool same_hexadecimal(const std::string& a, const std::string& b) {
  char *end_a{}, *end_b{};
  const unsigned long value_a = std::strtoul(a.c_str(), &end_a, 16), value_b = std::strtoul(b.c_str(), &end_b, 16);
  return !a.empty() && !b.empty() && *end_a == '\0' && *end_b == '\0' && value_a == value_b;
}

std::uint64_t hash_of_text(std::string_view text) {
  std::uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (const char c : text) hash = (hash ^ std::uint64_t(static_cast<unsigned char>(c))) * UINT64_C(0x100000001b3);
  return hash;
}

}  // namespace staghorn
