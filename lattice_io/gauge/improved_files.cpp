#include "lattice_io/gauge/improved_files.hpp"

#include <charconv>
#include <cmath>
#include <sstream>

#include "dirac/gauge/link_pair.hpp"
#include "halo/watch/error.hpp"
#include "lattice_io/content/xml_text.hpp"
#include "lattice_io/files/header_text.hpp"
#include "lattice_io/files/scidac.hpp"

namespace staghorn {

namespace {

using Description = std::map<std::string, std::string>;

std::string lower_case(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  return text;
}

// "name value" lines of a text with XML in it.
void add_lines(const std::string& xml, Description& lines) {
  std::string text;
  bool inside = false;
  for (const char c : xml) {
    if (c == '<') inside = true;
    text += inside ? '\n' : c;
    if (c == '>') inside = false;
  }
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);) {
    const std::size_t begin = line.find_first_not_of(" \t"), end = line.find_last_not_of(" \t\r");
    if (begin == std::string::npos) continue;
    const std::size_t blank = line.find(' ', begin);
    if (blank == std::string::npos || blank > end) continue;
    lines.emplace(line.substr(begin, blank - begin), line.substr(blank + 1, end - blank));
  }
}

void require_role(const GaugeHeader& header, const std::string& role) {
  const std::string found = role_of(header);
  if (!found.empty() && found != role) throw FileError(header.path, "a file of " + role + " links", found + " links");
}

// Both descriptions in one. Entries that have to be the same are.
Description common_description(const GaugeHeader& fat, const GaugeHeader& naik) {
  Description all = described_by(fat);
  for (const auto& [name, value] : described_by(naik)) {
    const auto [entry, is_new] = all.emplace(name, value);
    const bool must_agree = name == "action" || name == "u0" || name == "naik_epsilon" || name == "unitarize" ||
                            name == "phases_in_links" || name == "boundary" || name.starts_with("thin_") ||
                            name.starts_with("gauge.filename") || name.starts_with("asqtad.") ||
                            name.starts_with("layout.boundary");
    if (!is_new && must_agree && entry->second != value)
      throw FileError(fat.path + " and " + naik.path + " are no pair: " + name, entry->second, value);
  }
  return all;
}

LinkField read_verified(const Communicator& communicator, const GaugeHeader& header, const Lattice& lattice,
                        bool verify, GaugeChecks& checks) {
  std::optional<LinkField> links;
  communicator.agree([&] { links.emplace(lattice); });
  checks = read_gauge(communicator, header, *links, verify);
  if (!check_unitarity(communicator, *links).finite)
    throw FileError(header.path, "finite links", "NaN or infinity among them");
  return std::move(*links);
}

std::optional<LinkPhases> stated_phases(const Description& description) {
  const auto found = description.find("phases_in_links");
  if (found == description.end()) return std::nullopt;
  return parse_link_phases(found->second);
}

std::optional<double> stated_coefficient(const GaugeHeader& naik) {
  const Description lines = described_by(naik);
  const auto found = lines.find("coefficient");
  if (found == lines.end()) return std::nullopt;
  double value = 0;
  const std::string& text = found->second;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value == 0)
    throw FileError(naik.path + ": coefficient", "a number other than 0", "'" + text + "'");
  return value;
}

}  // namespace

std::string role_of(const GaugeHeader& header) {
  const Description lines = described_by(header);
  if (const auto found = lines.find("links"); found != lines.end())
    return found->second == "fat" || found->second == "long" ? found->second : "";
  const auto record = header.fields.find("scidac-record-xml");
  const std::string text = record == header.fields.end() ? "" : lower_case(record->second);
  return text.find("fat link") != std::string::npos ? "fat" : text.find("long link") != std::string::npos ? "long" : "";
}

Description described_by(const GaugeHeader& header) {
  if (header.format == GaugeFormat::hdf5) return header.fields;
  Description lines;
  for (const char* record : {"scidac-record-xml", "scidac-file-xml"})
    if (const auto found = header.fields.find(record); found != header.fields.end()) add_lines(found->second, lines);
  return lines;
}

ImprovedHeaders read_improved_headers(const Communicator& communicator, const std::string& fat,
                                      const std::string& naik) {
  ImprovedHeaders headers{read_gauge_header(communicator, fat), read_gauge_header(communicator, naik), {}};
  for (const GaugeHeader* header : {&headers.fat, &headers.naik})
    if (header->format != GaugeFormat::scidac && header->format != GaugeFormat::hdf5)
      throw FileError(header->path, "fat or long links, SciDAC or HDF5",
                      "a configuration in the format " + to_string(header->format));
  if (headers.fat.extents != headers.naik.extents)
    throw FileError(fat + " and " + naik + " are of different lattices", to_string(headers.fat.extents),
                    to_string(headers.naik.extents));
  require_role(headers.fat, "fat");
  require_role(headers.naik, "long");
  headers.description = common_description(headers.fat, headers.naik);
  return headers;
}

StoredImprovedLinks read_improved_links(const Communicator& communicator, const ImprovedHeaders& headers,
                                        const Lattice& lattice, std::optional<LinkPhases> asked, bool verify) {
  GaugeChecks fat_checks, naik_checks;
  LinkField fat = read_verified(communicator, headers.fat, lattice, verify, fat_checks);
  LinkField naik = read_verified(communicator, headers.naik, lattice, verify, naik_checks);
  const LinkPair pair{fat, naik, headers.fat.path, headers.naik.path};
  const FoundPhases carried =
      take_out_pair_phases(communicator, pair, asked ? asked : stated_phases(headers.description));
  const PairMeasures found = take_out_coefficient(communicator, pair, carried.sign, stated_coefficient(headers.naik));
  return {{std::move(fat), std::move(naik), found.coefficient},
          std::move(fat_checks),
          std::move(naik_checks),
          carried.phases,
          carried.boundary,
          found.naik_unitarity,
          found.likeness};
}

namespace {

void write_one(const Communicator& communicator, const std::string& path, const std::string& role, int steps,
               double coefficient, LinkField& links, const ImprovedFormat& how, FilesTogether& pair) {
  multiply_phases(links, how.phases, how.boundary, steps);
  Description description = how.description;
  description["links"] = role;
  description["phases_in_links"] = to_string(how.phases);
  if (role == "long") description["coefficient"] = shortest_digits(coefficient);
  if (how.phases != LinkPhases::none) description["boundary"] = to_string(how.boundary);
  if (how.format == GaugeFormat::scidac) {
    std::string lines;
    for (const auto& [name, value] : description) lines += name + " " + value + "\n";
    const std::string title = role == "fat" ? "Fat links" : "Long links";
    description = {
        {"scidac-record-xml", xml_start + xml_tagged("title", title) + xml_tagged("info", "\n" + xml_escaped(lines))}};
  }
  write_gauge(communicator, path, how.format, how.precision, links, description, {how.force, &pair});
}

}  // namespace

void write_improved_links(const Communicator& communicator, const std::string& fat, const std::string& naik,
                          ImprovedLinks&& links, const ImprovedFormat& how) {
  FilesTogether pair(communicator);
  write_one(communicator, fat, "fat", 1, 1, links.fat, how, pair);
  scale_links(links.naik, links.naik_weight);
  write_one(communicator, naik, "long", 3, links.naik_weight, links.naik, how, pair);
  pair.publish();
}

}  // namespace staghorn
