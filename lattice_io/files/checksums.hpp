// The checksums that the formats define, each computed over the bytes exactly as they lie in the file.
//
// All of them combine contributions of single sites by an operation that commutes (exclusive or, or addition modulo
// 2^32), so sites may be visited in any order and on any rank, and the result does not depend on the process grid.
//
// MILC (sum29, sum31)   A file is a sequence of 32-bit words w_k, k = 0, 1, ... over the whole lattice, taken in the
//                       file's byte order. sum29 is the exclusive or of all words, each rotated left by k mod 29 bits;
//                       sum31 the same with k mod 31. Rotation by the position makes a swap of two words visible, and
//                       two coprime periods make it so even for words 29 (or 31) places apart.
// NERSC (nersc)         The plain sum of all 32-bit words modulo 2^32. A swap of words goes unseen, which is why the
//                       header stores plaquette and link trace as well.
// SciDAC (suma, sumb)   crc_s is the CRC-32 (that of zlib and Ethernet) of the bytes of site s, s the lexicographic
//                       site number. suma is the exclusive or of crc_s rotated left by s mod 29 bits; sumb with s
//                       mod 31. ILDG files by QIO carry it too, and Staghorn's HDF5 files use it.
// PyQUDA (sum29, sum31) of HDF5: the exclusive or of the 32-bit words of each site, rotated left by s mod 29 and s mod
//                       31 bits. Two words of one site that are swapped go unseen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "halo/communicator.hpp"

namespace staghorn {

// FNV-1a [Fowler, Noll, Vo], 64 bits: tells texts apart. Local.
std::uint64_t hash_of_text(std::string_view text);

class SiteChecksum {
 public:
  virtual ~SiteChecksum() = default;
  // Takes in whole consecutive sites, the first of which has lexicographic number `first_site`. Each site of the
  // lattice must be added once, on any rank. The threads share the work. Local.
  virtual void add(std::int64_t first_site, std::span<const std::byte> sites) = 0;
  // The checksums of the whole lattice as 8 hexadecimal digits, by name. Collective.
  virtual std::map<std::string, std::string> combine(const Communicator& communicator) const = 0;
};

std::unique_ptr<SiteChecksum> milc_checksum(std::int64_t bytes_per_site, bool big_endian);
std::unique_ptr<SiteChecksum> nersc_checksum(bool big_endian);
std::unique_ptr<SiteChecksum> scidac_checksum(std::int64_t bytes_per_site);
std::unique_ptr<SiteChecksum> pyquda_checksum(std::int64_t bytes_per_site);  // of little-endian words

// One checksum or header number of a file beside what its data give.
struct ChecksumResult {
  std::string stored, computed;  // as the format writes them (hexadecimal, or a decimal number); stored "": absent
  bool match = false;
};
using ChecksumResults = std::map<std::string, ChecksumResult>;  // by name

// Compares every computed checksum with the stored one. A checksum that a file lacks does not match.
ChecksumResults compare_checksums(const std::map<std::string, std::string>& stored,
                                  const std::map<std::string, std::string>& computed);
// "suma stored 1, computed 2", "no sumb (computed 3)": one text for each result that does not match.
std::vector<std::string> unverified_checksums(const ChecksumResults& results);
// Throws Error, naming `where` and the option no_verify, unless all results match.
void require_verified(const std::string& where, const ChecksumResults& results);

// The CRC-32 of some bytes.
std::uint32_t crc_of(std::span<const std::byte> bytes);

// 8 digits, lower case.
std::string hexadecimal(std::uint32_t value);
// Equal as hexadecimal numbers: upper or lower case, with or without leading zeros.
bool same_hexadecimal(const std::string& a, const std::string& b);

}  // namespace staghorn
