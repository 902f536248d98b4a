#include "lattice_io/gauge_format.hpp"

#include <cstdlib>
#include <ctime>

#include "halo/error.hpp"

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

namespace {

bool is_utf8(const std::string& text) {
  int continuation = 0;  // bytes 10xxxxxx still to come
  for (const unsigned char c : text) {
    if (continuation > 0) {
      if ((c & 0xc0) != 0x80) return false;
      --continuation;
    } else if (c >= 0x80) {
      continuation = (c & 0xe0) == 0xc0 ? 1 : (c & 0xf0) == 0xe0 ? 2 : (c & 0xf8) == 0xf0 ? 3 : 0;
      if (continuation == 0) return false;
    }
  }
  return continuation == 0;
}

}  // namespace

std::string printable(const std::string& text) {
  std::string result = text;
  if (!is_utf8(text))
    for (char& c : result)
      if (static_cast<unsigned char>(c) >= 0x80) c = '?';
  return result;
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
