#include "lattice_io/gauge/gauge_format.hpp"

#include <cstdlib>
#include <ctime>

#include "halo/watch/error.hpp"

namespace staghorn {

void require_usable_extents(const std::string& path, const Extents& extents) {
  for (const int extent : extents)
    if (extent < 2 || extent > 4096 || extent % 2 != 0)
      throw FileError(path + ": lattice extents", "four even numbers from 2 to 4096", to_string(extents));
}

std::int64_t require_complete(const PosixFile& file, const GaugeHeader& header) {
  const std::int64_t expected = header.data_offset + volume(header.extents) * bytes_per_site(header);
  const std::int64_t found = file.size();
  if (found < expected)
    throw FileError(
        file.path() + " is truncated (" + to_string(header.extents) + " sites, " + to_string(header.precision) + ")",
        std::to_string(expected) + " bytes", std::to_string(found) + " bytes");
  return found - expected;
}

std::string value_or(const Metadata& metadata, const std::string& key, const std::string& otherwise) {
  const auto found = metadata.find(key);
  return found == metadata.end() ? otherwise : found->second;
}

std::string creation_date() {
  std::time_t seconds = std::time(nullptr);
  if (const char* epoch = std::getenv("SOURCE_DATE_EPOCH")) {
    char* end = nullptr;
    seconds = std::time_t(std::strtoll(epoch, &end, 10));
    if (end == epoch || *end != 0 || seconds < 0)
      throw Error("SOURCE_DATE_EPOCH", "seconds since 1970", "'" + std::string(epoch) + "'");
  }
  std::tm calendar{};
  if (gmtime_r(&seconds, &calendar) == nullptr) calendar = {};  // a year that does not fit
  const auto two_digits = [](int n, char fill) { return (n < 10 ? std::string(1, fill) : "") + std::to_string(n); };
  // The names of days and months do not depend on the locale.
  return std::string("SunMonTueWedThuFriSat").substr(3 * std::size_t(calendar.tm_wday), 3) + " " +
         std::string("JanFebMarAprMayJunJulAugSepOctNovDec").substr(3 * std::size_t(calendar.tm_mon), 3) + " " +
         two_digits(calendar.tm_mday, ' ') + " " + two_digits(calendar.tm_hour, '0') + ":" +
         two_digits(calendar.tm_min, '0') + ":" + two_digits(calendar.tm_sec, '0') + " " +
         std::to_string(std::int64_t{1900} + calendar.tm_year) + " UTC";
}

std::string creator() { return "Staghorn " STAGHORN_VERSION; }

}  // namespace staghorn
