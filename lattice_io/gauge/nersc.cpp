// NERSC archive format (the "Gauge Connection"): a text header and the links, two rows or 3x3, 32 or 64 bits.
//
//   BEGIN_HEADER / KEY = VALUE ... / END_HEADER / sites, x fastest; per site mu = x, y, z, t; per link rows of colours
//
// DATATYPE = 4D_SU3_GAUGE stores the first two rows (the third is the conjugate of their cross product),
// 4D_SU3_GAUGE_3x3 all three. By the archive's rule FLOATING_POINT without BIG or LITTLE means big-endian, but some
// files have the order of the machine that wrote them, whatever they say. The first stored row tells: it has norm one
// in only one order. This file says which header entries are verified (checksum_keys, observable_keys);
// gauge_reading.cpp compares them.
#include <algorithm>
#include <array>
#include <cmath>

#include "halo/watch/error.hpp"
#include "lattice_io/files/header_text.hpp"
#include "lattice_io/gauge/gauge_format.hpp"
#include "lattice_io/gauge/link_bytes.hpp"

namespace staghorn {

namespace {

constexpr std::int64_t longest_header = 1 << 16;

// Header entries to verify, with their names in GaugeChecks. Other codes write no STAGHORN_SUMA and SUMB, the SciDAC
// pair over the bytes of each site.
struct VerifiedKey {
  const char *key, *name;
};
constexpr std::array<VerifiedKey, 3> checksum_keys = {
    {{"CHECKSUM", "nersc"}, {"STAGHORN_SUMA", "suma"}, {"STAGHORN_SUMB", "sumb"}}};
constexpr std::array<VerifiedKey, 2> observable_keys = {{{"PLAQUETTE", "plaquette"}, {"LINK_TRACE", "link_trace"}}};

std::string trimmed(const std::string& text) {
  const char* blank = " \t\r";
  const auto first = text.find_first_not_of(blank);
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(blank) - first + 1);
}

// Where a header ends: its last entry, and where the links begin; npos where there is no line END_HEADER.
struct HeaderEnd {
  std::size_t entries = std::string::npos, links = 0;
  char line_end = '\n';
};

// Editors and Windows leave blanks or a carriage return at the end of a line; lines of old Macintoshes end with a
// carriage return alone, and then the next byte is the first of the links, whatever it is.
HeaderEnd end_of_header(const std::string& text) {
  HeaderEnd end;
  const auto first_end = text.find_first_of("\r\n", text.find("BEGIN_HEADER"));
  if (first_end != std::string::npos && text[first_end] == '\r' && text[first_end + 1] != '\n') end.line_end = '\r';
  const std::string mark = end.line_end + std::string("END_HEADER"), blanks = end.line_end == '\n' ? " \t\r" : " \t";
  for (auto at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
    const auto behind = text.find_first_not_of(blanks, at + mark.size());
    if (behind != std::string::npos && text[behind] == end.line_end) return {at, behind + 1, end.line_end};
  }
  return end;
}

std::string required(const GaugeHeader& header, const std::string& key) {
  const auto found = header.fields.find(key);
  if (found == header.fields.end()) throw FileError(header.path + ": NERSC header", "an entry " + key, "none");
  return found->second;
}

// Whether `key` stands somewhere in `text` with one or two wrong characters. The keys differ from each other in one.
bool has_near_miss(const std::string& text, const std::string& key) {
  for (std::size_t at = 0; at + key.size() <= text.size(); ++at) {
    int wrong = 0;
    for (std::size_t k = 0; k < key.size() && wrong < 3; ++k) wrong += text[at + k] != key[k];
    const std::string found = text.substr(at, key.size());
    const bool another = std::any_of(checksum_keys.begin(), checksum_keys.end(),
                                     [&](const VerifiedKey& other) { return found == other.key; });
    if (wrong < 3 && !another) return true;
  }
  return false;
}

// Takes an entry into header.checksums. An entry whose name is damaged counts as one without a value, so that damage to
// a name does not turn its verification off. Returns false if the header has neither.
bool take_number(GaugeHeader& header, const std::string& text, const std::string& key, const std::string& name) {
  const bool there = header.fields.count(key) != 0;
  if (!there && !has_near_miss(text, key)) return false;
  header.checksums[name] = there ? header.fields.at(key) : "";
  return true;
}

int extent(const GaugeHeader& header, const std::string& key) {
  return int(whole_number(header.path + ": " + key, required(header, key), 0, 1 << 20));
}

void set_floating_point(const PosixFile& file, GaugeHeader& header) {
  const std::string type = required(header, "FLOATING_POINT");
  const std::string order = type.size() > 6 ? type.substr(6) : "";
  if (type.rfind("IEEE32", 0) == 0)
    header.precision = Precision::fp32;
  else if (type.rfind("IEEE64", 0) == 0)
    header.precision = Precision::fp64;
  if ((type.rfind("IEEE32", 0) != 0 && type.rfind("IEEE64", 0) != 0) ||
      (order != "" && order != "BIG" && order != "LITTLE"))
    throw FileError(header.path + ": FLOATING_POINT", "IEEE32 or IEEE64, and BIG, LITTLE or nothing behind it", type);
  header.big_endian = order != "LITTLE";
  require_complete(file, header);
  find_byte_order(file, header, "FLOATING_POINT = " + type + (order == "" ? " does not say LITTLE" : ""));
}

class NerscFrame : public GaugeFrame {
 public:
  NerscFrame(const GaugeHeader& header, const Metadata& metadata) : header_(header), metadata_(metadata) {}

  std::vector<std::int64_t> begin(const std::string&) override {
    GaugeNumbers unknown;
    for (const auto& [key, name] : checksum_keys) unknown.checksums[name] = "00000000";
    data_offset_ = std::int64_t(text(unknown).size());
    return {data_offset_};
  }

  void finish(const std::string& path, const GaugeNumbers& numbers) override {
    const std::string header = text(numbers);
    // Observables of SU(3) links have as many digits as zero has. A longer header would run into the links.
    if (std::int64_t(header.size()) != data_offset_)
      throw FileError(path + ": NERSC header", std::to_string(data_offset_) + " bytes", header.size());
    PosixFile file = PosixFile::open_to_write(path);
    file.write_text(0, header);
    file.flush_and_close();
  }

 private:
  std::string text(const GaugeNumbers& numbers) const {
    std::string text = "BEGIN_HEADER\n";
    const auto line = [&](const std::string& key, const std::string& value) { text += key + " = " + value + "\n"; };
    const auto real = [](double value) { return (std::signbit(value) ? "" : " ") + fixed_digits(value, 12); };
    line("HDR_VERSION", "1.0");
    line("DATATYPE", header_.rows == 2 ? "4D_SU3_GAUGE" : "4D_SU3_GAUGE_3x3");
    line("STORAGE_FORMAT", "1.0");
    for (int mu = 0; mu < 4; ++mu) line("DIMENSION_" + std::to_string(mu + 1), std::to_string(header_.extents[mu]));
    for (const auto& [key, name] : checksum_keys) line(key, numbers.checksums.at(name));
    line("LINK_TRACE", real(numbers.link_trace.real()));
    line("PLAQUETTE", real(numbers.plaquette));
    line("CREATOR", creator());
    line("ARCHIVE_DATE", date_);
    for (const char* key : {"ENSEMBLE_ID", "ENSEMBLE_LABEL", "SEQUENCE_NUMBER", "BETA", "KAPPA", "MASS", "HMD_DT"})
      if (metadata_.count(key)) line(key, one_line(metadata_.at(key)));
    line("FLOATING_POINT", std::string(header_.precision == Precision::fp64 ? "IEEE64" : "IEEE32") +
                               (header_.big_endian ? "BIG" : "LITTLE"));
    return text + "END_HEADER\n";
  }

  static std::string one_line(std::string value) {
    for (char& c : value)
      if (c == '\n' || c == '\r') c = ' ';
    return value;
  }

  GaugeHeader header_;
  Metadata metadata_;
  std::string date_ = creation_date();
  std::int64_t data_offset_ = 0;
};

}  // namespace

GaugeHeader read_nersc_header(const PosixFile& file) {
  GaugeHeader header;
  header.path = file.path();
  header.format = GaugeFormat::nersc;
  const std::string text = file.read_text(0, std::min(file.size(), longest_header));
  const auto [end, data, line_end_character] = end_of_header(text);
  if (end == std::string::npos)
    throw FileError(file.path() + ": NERSC header",
                    "a line END_HEADER within " + std::to_string(longest_header) + " bytes", "none");
  header.data_offset = std::int64_t(data);
  for (std::size_t at = 0; at < end;) {
    const auto line_end = text.find(line_end_character, at);
    const std::string line = printable(text.substr(at, line_end - at));
    const auto equals = line.find('=');
    if (equals != std::string::npos) header.fields[trimmed(line.substr(0, equals))] = trimmed(line.substr(equals + 1));
    at = line_end + 1;
  }

  const std::string type = required(header, "DATATYPE");
  if (type != "4D_SU3_GAUGE" && type != "4D_SU3_GAUGE_3x3")
    throw FileError(file.path() + ": DATATYPE", "4D_SU3_GAUGE or 4D_SU3_GAUGE_3x3", type);
  header.rows = type == "4D_SU3_GAUGE" ? 2 : 3;
  for (int mu = 0; mu < 4; ++mu) header.extents[mu] = extent(header, "DIMENSION_" + std::to_string(mu + 1));
  require_usable_extents(file.path(), header.extents);
  set_floating_point(file, header);

  const std::string header_text = text.substr(0, end);
  for (const auto& [key, name] : checksum_keys) take_number(header, header_text, key, name);
  for (const auto& [key, name] : observable_keys)
    if (!take_number(header, header_text, key, name))
      header.warnings.push_back("no " + std::string(key) + " in the NERSC header to compare with");
  const std::int64_t trailing = require_complete(file, header);
  if (trailing > 0) header.warnings.push_back(std::to_string(trailing) + " bytes follow the links and are ignored");
  return header;
}

std::unique_ptr<GaugeFrame> nersc_frame(const GaugeHeader& header, const Metadata& metadata) {
  return std::make_unique<NerscFrame>(header, metadata);
}

}  // namespace staghorn
