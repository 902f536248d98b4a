#include "lattice_io/files/scidac.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "halo/watch/error.hpp"
#include "lattice_io/content/xml_text.hpp"
#include "lattice_io/files/header_text.hpp"
#include "lattice_io/files/lime.hpp"

namespace staghorn {

namespace {

constexpr std::int64_t longest_text = 1 << 20;
constexpr const char* hypercube_record = "2";  // <recordtype> of QIO_HYPER

// Bytes of a site and extents are bounded, so that no product of two of them overflows.
constexpr std::int64_t largest_site = 1 << 20, largest_extent = 1 << 15;

std::int64_t integer(const std::string& path, const std::string& xml, const std::string& tag, std::int64_t lowest,
                     std::int64_t highest) {
  return whole_number(path + ": <" + tag + ">", xml_value(xml, tag), lowest, highest);
}

Precision precision_of(const std::string& path, const std::string& text) {
  if (text == "F" || text == "32") return Precision::fp32;
  if (text == "D" || text == "64") return Precision::fp64;
  throw FileError(path + ": precision", "F or D, 32 or 64", "'" + text + "'");
}

void set_extents(const std::string& path, ScidacFile& file, const Extents& extents) {
  if (file.extents != Extents{} && file.extents != extents)
    throw FileError(path + ": two descriptions of the lattice differ", to_string(file.extents), to_string(extents));
  file.extents = extents;
}

std::optional<std::array<int, 4>> four_integers(const std::string& text) {
  std::istringstream words(text);
  std::array<int, 4> numbers{};
  std::string rest;
  if (!(words >> numbers[0] >> numbers[1] >> numbers[2] >> numbers[3]) || words >> rest) return std::nullopt;
  return numbers;
}

std::string text_of(const std::array<int, 4>& numbers) {
  std::string text;
  for (const int number : numbers) text += std::to_string(number) + " ";
  return text;
}

void read_private_file_xml(const std::string& path, const std::string& xml, ScidacFile& file) {
  integer(path, xml, "spacetime", 4, 4);
  const std::string dims = xml_value(xml, "dims");
  const std::optional<Extents> extents = four_integers(dims);
  const auto usable = [](int extent) { return extent >= 1 && extent <= largest_extent; };
  if (!extents || !std::all_of(extents->begin(), extents->end(), usable))
    throw FileError(path + ": <dims>", "four extents from 1 to " + std::to_string(largest_extent), "'" + dims + "'");
  set_extents(path, file, *extents);
}

// MILC writes staggered propagators with the source of each in front, a complex number or a vector a site, maybe of one
// time slice alone. Its XML is <usqcdSourceInfo>. [QIO, qioxml_usqcd_ksprop.h]
bool is_source(const ScidacField& field) { return field.record_xml.find("<usqcdSourceInfo") != std::string::npos; }

void leave_out_sources(ScidacFile& scidac) {
  const bool has_others = !std::all_of(scidac.fields.begin(), scidac.fields.end(), is_source);
  if (has_others) scidac.n_sources = std::erase_if(scidac.fields, is_source);
}

void refuse_parts(const std::string& path, const ScidacFile& scidac, bool with_hypercubes) {
  for (const ScidacField& field : scidac.fields)
    if (!field.part.empty() && !(with_hypercubes && field.hypercube))
      throw FileError(path + ": field", "one on the whole lattice", field.part);
}

// Whether the file is the first of several: <volfmt> is 1 (QIO's multifile) or 2 (partfile).
bool is_in_volumes(const std::string& path, const std::string& xml) {
  return !xml_value(xml, "volfmt").empty() && integer(path, xml, "volfmt", 0, 2) != 0;
}

void take_volumes(const PosixFile& file, ScidacFile& scidac) {
  const auto volumes = std::make_shared<const ScidacVolumes>(file.path(), scidac.extents);
  for (ScidacField& field : scidac.fields) {
    if (field.hypercube)
      throw FileError(file.path() + ": field of several volumes", "one on the whole lattice", field.part);
    if (field.bytes_per_site == 0)
      throw FileError(file.path() + ": field of several volumes", "a record scidac-private-record-xml", "none");
    volumes->require_field(field.number, field.bytes_per_site);
    field.volumes = volumes;
    field.data_bytes = volume(scidac.extents) * field.bytes_per_site;
  }
}

ScidacField read_private_record_xml(const std::string& path, const std::string& xml) {
  ScidacField field;
  field.datatype = xml_value(xml, "datatype");
  field.precision = precision_of(path, xml_value(xml, "precision"));
  field.bytes_per_site =
      integer(path, xml, "typesize", 1, largest_site) * integer(path, xml, "datacount", 1, largest_site);
  for (const char* tag : {"globaldata", "recordtype"}) {
    const std::string kind = xml_value(xml, tag);
    if (kind != "" && kind != "0") field.part = std::string("<") + tag + "> " + kind;
  }
  if (xml_value(xml, "recordtype") == hypercube_record) {
    const std::string lower_text = xml_value(xml, "hyperlower"), upper_text = xml_value(xml, "hyperupper");
    field.part += ", from '" + lower_text + "' to '" + upper_text + "'";
    const auto lower = four_integers(lower_text), upper = four_integers(upper_text);
    if (lower && upper) field.hypercube = {*lower, *upper};
  }
  return field;
}

// ILDG: field, precision and extents once more; they hold even where the SciDAC records are missing.
void read_ildg_format(const std::string& path, const std::string& xml, ScidacFile& file, ScidacField& field) {
  file.is_ildg = true;
  if (const std::string kind = xml_value(xml, "field"); kind != "su3gauge")
    throw FileError(path + ": <field> of ildg-format", "su3gauge", kind.empty() ? "none" : "'" + kind + "'");
  const Precision precision = precision_of(path, xml_value(xml, "precision"));
  if (field.bytes_per_site != 0 && precision != field.precision)
    throw FileError(path + ": two descriptions of the precision differ", to_string(field.precision),
                    to_string(precision));
  field.precision = precision;
  Extents extents{};
  for (std::size_t mu = 0; mu < 4; ++mu)
    extents[mu] = int(integer(path, xml, std::string("l") + "xyzt"[mu], 1, largest_extent));
  set_extents(path, file, extents);
}

}  // namespace

std::string qdp_datatype(const std::string& object, Precision precision) {
  return std::string("QDP_") + (precision == Precision::fp64 ? "D" : "F") + "3_" + object;
}

std::string begin_scidac_file(const NewScidacFile& file) {
  const std::string private_file =
      xml_start + xml_tagged("scidacFile", xml_tagged("version", "1.1") + xml_tagged("spacetime", "4") +
                                               xml_tagged("dims", text_of(file.extents)) + xml_tagged("volfmt", "0"));
  return lime_record("scidac-private-file-xml", private_file, LimePlace::first) +
         lime_record("scidac-file-xml", file.file_xml, LimePlace::last) + begin_scidac_field(file);
}

std::string begin_scidac_field(const NewScidacFile& file) {
  const std::string date = xml_tagged("date", file.date);
  const std::string where =
      file.hypercube ? xml_tagged("version", "1.1") + date + xml_tagged("recordtype", hypercube_record) +
                           xml_tagged("spacetime", "4") + xml_tagged("hyperlower", text_of(file.hypercube->lower)) +
                           xml_tagged("hyperupper", text_of(file.hypercube->upper))
                     : xml_tagged("version", "1.0") + date + xml_tagged("globaldata", "0");
  const std::string private_record =
      xml_start +
      xml_tagged("scidacRecord", where + xml_tagged("datatype", file.datatype) +
                                     xml_tagged("precision", file.precision == Precision::fp64 ? "D" : "F") +
                                     xml_tagged("colors", "3") + xml_tagged("typesize", std::to_string(file.typesize)) +
                                     xml_tagged("datacount", std::to_string(file.datacount)));
  std::string text = lime_record("scidac-private-record-xml", private_record, LimePlace::first) +
                     lime_record("scidac-record-xml", file.record_xml, LimePlace::middle);
  for (const auto& [type, record] : file.records) text += lime_record(type, record, LimePlace::middle);
  return text + lime_record_header(file.data_type, file.data_bytes(), LimePlace::middle);
}

std::string end_scidac_field(const NewScidacFile& file, const std::map<std::string, std::string>& checksums) {
  const std::string checksum =
      xml_start + xml_tagged("scidacChecksum", xml_tagged("version", "1.0") + xml_tagged("suma", checksums.at("suma")) +
                                                   xml_tagged("sumb", checksums.at("sumb")));
  return std::string(std::size_t(lime_padding(file.data_bytes())), '\0') +
         lime_record("scidac-checksum", checksum, LimePlace::last);
}

std::int64_t Hypercube::n_sites() const {
  std::int64_t n = 1;
  for (std::size_t mu = 0; mu < 4; ++mu) n *= upper[mu] - lower[mu] + 1;
  return n;
}

std::string to_string(const Hypercube& hypercube) {
  const std::string text = text_of(hypercube.lower) + "to " + text_of(hypercube.upper);
  return text.substr(0, text.size() - 1);
}

ScidacFile read_scidac_file(const PosixFile& file, bool with_hypercubes, bool or_bare) {
  const LimeContents contents = read_lime_records(file);
  ScidacFile scidac;
  scidac.trailing_bytes = contents.trailing_bytes;
  scidac.warnings = contents.warnings;
  bool in_volumes = false, sums_stand_in_front = false;
  ScidacField next;  // described, data not met yet
  std::map<std::string, std::string> sums;
  for (const LimeRecord& record : contents.records) {
    if (record.type == "scidac-binary-data" || record.type == "ildg-binary-data") {
      next.data_offset = record.offset;
      next.data_bytes = record.bytes;
      next.number = scidac.fields.size();  // sources are counted, too
      next.checksums = std::exchange(sums, {});
      scidac.fields.push_back(std::move(next));
      next = {};
      continue;
    }
    if (record.bytes > longest_text) continue;
    std::string text = file.read_text(record.offset, record.bytes);
    if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
      throw FileError(file.path() + ": record " + record.type, "text in UTF-8", "text in UTF-16");
    text.resize(text.find_last_not_of('\0') + 1);
    text = printable(text);
    scidac.texts.emplace(record.type, text);
    if (record.type == "scidac-private-file-xml") {
      read_private_file_xml(file.path(), text, scidac);
      in_volumes = is_in_volumes(file.path(), text);
    } else if (record.type == "scidac-private-record-xml") {
      next = read_private_record_xml(file.path(), text);
    } else if (record.type == "scidac-record-xml") {
      next.record_xml = text;
    } else if (record.type == "ildg-format") {
      // Some writers put the numbers first: then this describes those that nothing has described.
      const bool behind = !scidac.is_ildg && scidac.fields.size() == 1 && scidac.fields[0].bytes_per_site == 0;
      read_ildg_format(file.path(), text, scidac, behind ? scidac.fields[0] : next);
    } else if (record.type == "scidac-checksum") {
      // Behind the numbers, but for some writers in front of them.
      sums_stand_in_front = sums_stand_in_front || scidac.fields.empty();
      auto& of_field = sums_stand_in_front ? sums : scidac.fields.back().checksums;
      for (const char* sum : {"suma", "sumb"}) of_field[sum] = xml_value(text, sum);
    }
  }
  if (scidac.fields.empty())
    throw FileError(file.path() + ": LIME file", "a record scidac-binary-data or ildg-binary-data",
                    "records " + contents.types() +
                        (contents.trailing_bytes > 0 ? ", and bytes that are no record from byte " +
                                                           std::to_string(file.size() - contents.trailing_bytes) + " on"
                                                     : ""));
  scidac.is_described = scidac.extents != Extents{};
  if (!scidac.is_described && !(or_bare && !in_volumes))
    throw FileError(file.path() + ": LIME file", "a record scidac-private-file-xml or ildg-format",
                    "neither; given `lattice`, `staghorn convert` reads the links of such a file");
  leave_out_sources(scidac);
  refuse_parts(file.path(), scidac, with_hypercubes);
  if (in_volumes) take_volumes(file, scidac);
  return scidac;
}

void ScidacField::read(const PosixFile& file, std::int64_t first_site, std::span<std::byte> sites) const {
  if (volumes)
    volumes->read(number, bytes_per_site, first_site, sites);
  else
    file.read(data_offset + first_site * bytes_per_site, sites);
}

ChecksumResults read_scidac_sites(const Communicator& communicator, const Lattice& lattice, const PosixFile& file,
                                  const ScidacField& field, const SiteSlabs::Place& place) {
  const auto checksum = scidac_checksum(field.bytes_per_site);
  SiteSlabs(communicator, lattice, field.bytes_per_site)
      .read(
          [&](std::int64_t first_site, std::span<std::byte> sites) {
            field.read(file, first_site, sites);
            checksum->add(first_site, sites);
          },
          place);
  return compare_checksums(field.checksums, checksum->combine(communicator));
}

}  // namespace staghorn
