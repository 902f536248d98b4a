#include "lattice_io/gauge/gauge_format.hpp"

#include <cstdlib>
#include <ctime>

#include "halo/watch/error.hpp"

namespace staghorn {

void require_usable_extents(const std::string& path, const Extents& extents) {
  for (const int extent : extents)
    if (extent < 2 || extent > 4096 || extent % 2 != 0)
      throw Error(path + ": lattice extents", "four even numbers from 2 to 4096", to_string(extents));
}

std::int64_t require_complete(const PosixFile& file, const GaugeHeader& header) {
  const std::int64_t expected = header.data_offset + volume(header.extents) * bytes_per_site(header);
  const std::int64_t found = file.size();
  if (found < expected)
    throw Error(
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
  if (const char* epoch = std::getenv("SOURCE_DATE_EPOCH")) seconds = std::time_t(std::atoll(epoch));
  std::tm calendar{};
  gmtime_r(&seconds, &calendar);
  char text[64];
  std::strftime(text, sizeof text, "%a %b %e %H:%M:%S %Y UTC", &calendar);
  return text;
}

std::string creator() { return "Staghorn " STAGHORN_VERSION; }

}  // namespace staghorn
