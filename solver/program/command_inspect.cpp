// `staghorn inspect`: what is in a file of links, colour vectors or eigenvectors, whether it is intact, and what a
// solve on links would need.
#include <cmath>
#include <ostream>

#include "dirac/gauge/gauge_observables.hpp"
#include "dirac/gauge/smoothing/gauge_loops.hpp"
#include "dirac/gauge/stored_links.hpp"
#include "halo/available_memory.hpp"
#include "halo/cut_lattice.hpp"
#include "lattice_io/content/field_faults.hpp"
#include "lattice_io/files/foreign_files.hpp"
#include "lattice_io/files/header_text.hpp"
#include "lattice_io/gauge/gauge_file.hpp"
#include "lattice_io/gauge/improved_files.hpp"
#include "solver/machine/memory_estimate.hpp"
#include "solver/program/command_line/command_options.hpp"
#include "solver/program/commands.hpp"
#include "solver/program/inspect_vectors.hpp"
#include "solver/report/gauge_summary.hpp"
#include "solver/report/setting_json.hpp"
#include "solver/request/words/formatted.hpp"

namespace staghorn {

namespace po = boost::program_options;

namespace {

// What is in the numbers of fat and long links.
struct ImprovedInspection {
  std::string role;                       // "fat" or "long"
  std::optional<FoundPhases> found;       // nothing where determinants do not tell
  double coefficient = 1, unitarity = 0;  // of long links: c_N, and max |N N^dagger - 1| without it
};

struct Inspection {
  GaugeHeader header;
  GaugeSummary gauge;
  UnitarityCheck unitarity;
  std::optional<ImprovedInspection> improved;
  std::optional<std::complex<double>> polyakov;  // of links that are not improved ones

  bool intact() const { return gauge.verified(); }
};

struct MemoryRow {
  Precision precision;
  Reconstruct links;
  MemoryEstimate memory;  // for the three colours of a point source
};

// All ranks together, without halos: of a lattice that is not cut.
std::vector<MemoryRow> memory_rows(const Extents& extents) {
  std::vector<MemoryRow> rows;
  SolveShape shape;
  shape.lattice = extents;
  shape.n_rhs = 3;
  shape.on_gpu = true;
  for (const Precision precision : {Precision::fp64, Precision::fp32})
    for (const Reconstruct links : {Reconstruct::none18, Reconstruct::row12, Reconstruct::su3_8}) {
      shape.options.precision = precision;
      shape.options.links = links;
      rows.push_back({precision, links, estimate_memory(shape)});
    }
  return rows;
}

CommandSyntax inspect_syntax() {
  CommandSyntax syntax{
      "inspect", "staghorn inspect FILE [--json] [--header] [--dataset NAME] [--no-verify] [--no-probe]",
      "Shows the header and verifies every checksum. Of links it measures plaquettes, link trace, Polyakov loop and "
      "unitarity; of\n"
      "colour vectors (HDF5, SciDAC, npy, FNAL propagators) the norm of each, and of solutions what they solve and\n"
      "how well; of checkpoints which solve they belong to and how far it is; of eigenvectors their "
      "values.\n"
      "Exit status: 0 intact, 1 if a checksum is absent, or a checksum or header value does not match, or if numbers\n"
      "are NaN, infinite or zero where they cannot be, whatever the checksums say.\n"};
  syntax.options.add(
      options_of("Options", {{"file", "FILE", "links, colour vectors or eigenvectors", {}, OptionRow::required},
                             {"json", "", "print JSON instead of text"},
                             {"dataset", "NAME", "of HDF5: the dataset that holds links (default: links)"},
                             {"kyu", "XxYxZxT", "FILE is one of KYU, without a header: its lattice"},
                             {"lattice", "XxYxZxT", "of FILE, where it is LIME with nothing but the numbers of ILDG"},
                             {"header", "", "of links: show the header alone, and read and verify no numbers"},
                             {"no-verify", "", "end with status 0 though checksums are absent or wrong"},
                             {"no-probe", "",
                              "read HDF5 at once; else a child meets the file first, as HDF5 may crash on a damaged "
                              "one"}}));
  syntax.positional.add("file", 1);
  return syntax;
}

// What `links` are, if the file says that they are fat or long links, or nothing. Collective.
std::optional<ImprovedInspection> look_at_improved(const Communicator& communicator, const GaugeHeader& header,
                                                   const LinkField& links) {
  ImprovedInspection inspection;
  inspection.role = role_of(header);
  if (inspection.role.empty()) return std::nullopt;
  const bool is_long = inspection.role == "long";
  inspection.found = find_phases(communicator, links, is_long ? 3 : 1);
  if (!is_long) return inspection;
  inspection.coefficient = common_coefficient(communicator, links, inspection.found ? inspection.found->sign : -1);
  LinkField unscaled = links;
  scale_links(unscaled, 1 / inspection.coefficient);
  inspection.unitarity = check_unitarity(communicator, unscaled).max_deviation;
  return inspection;
}

// The links of the whole lattice as they are looked at, which the ranks share.
double link_bytes(const Extents& extents) { return double(volume(extents)) * 4 * 18 * 8; }

void require_memory(const Communicator& communicator, const GaugeHeader& header) {
  const double needed = link_bytes(header.extents) / communicator.size();
  const double there = available_memory(communicator, -1).host;
  if (!communicator.any(needed > there)) return;
  throw Error(ErrorKind::memory, header.path,
              "memory for links of " + to_string(header.extents) + ", " + gigabytes(needed) + " for each rank",
              gigabytes(there) + ". More ranks share them; `staghorn inspect --header` reads none");
}

Inspection look_at(const Communicator& communicator, const std::string& path, const OptionValues& values) {
  Inspection found;
  found.header = stored_header(communicator, values, path);
  require_memory(communicator, found.header);
  LinkField links(cut_lattice(communicator, found.header.extents));
  const GaugeChecks checks = read_gauge(communicator, found.header, links, false);
  found.unitarity = check_unitarity(communicator, links);
  found.gauge = summarize_gauge(communicator, links, found.unitarity, checks);
  found.gauge.fault = fault_of_links(communicator, links);
  if (found.gauge.fault.empty()) found.improved = look_at_improved(communicator, found.header, links);
  if (found.gauge.fault.empty() && !found.improved) found.polyakov = polyakov_loop(communicator, links);
  found.gauge.file = path;
  found.gauge.format = to_string(found.header.format);
  return found;
}

std::string number(const char* pattern, double value) {
  return std::isnan(value) ? "nan" : format(pattern, value);  // its sign means nothing
}

void print_improved(std::ostream& out, const ImprovedInspection& inspection) {
  out << "  holds       " << inspection.role << " links, ";
  if (inspection.found)
    out << "phases " << to_string(inspection.found->phases) << ", boundary " << to_string(inspection.found->boundary)
        << "\n";
  else
    out << "whose determinants tell no phases\n";
  if (inspection.role == "long")
    out << "  coefficient " << shortest_digits(inspection.coefficient)
        << ", |N N^dagger - 1| <= " << three_digits(inspection.unitarity) << " without it\n";
}

void print_form(std::ostream& out, const GaugeHeader& header) {
  out << header.path << "\n  format      " << to_string(header.format) << ", " << (header.big_endian ? "big" : "little")
      << "-endian, " << to_string(header.precision) << ", " << header.rows << " rows a link\n  lattice     "
      << to_string(header.extents) << "  (X x Y x Z x T)\n";
}

double stored_bytes(const GaugeHeader& header) {
  return double(volume(header.extents)) * 4 * 6 * header.rows * bytes_per_real(header.precision);
}

// `--header`.
void print_header(std::ostream& out, const GaugeHeader& header, bool as_json) {
  if (as_json) {
    out << text_of_json(Json{{"file", header.path},
                             {"format", to_string(header.format)},
                             {"lattice", header.extents},
                             {"precision", to_string(header.precision)},
                             {"rows", header.rows},
                             {"big_endian", header.big_endian},
                             {"bytes", stored_bytes(header)},
                             {"header", header.fields}})
        << "\n";
    return;
  }
  print_form(out, header);
  out << "  numbers     " << gigabytes(stored_bytes(header));
  if (header.data_offset >= 0) out << " from byte " << header.data_offset;
  out << ", not read and not verified\n  header\n";
  print_fields(out, header.fields);
}

void print_text(std::ostream& out, const Inspection& found) {
  const GaugeHeader& header = found.header;
  print_form(out, header);
  if (found.improved) print_improved(out, *found.improved);
  out << "  plaquette   " << number("%.12f", found.gauge.plaquette) << "  (space "
      << number("%.12f", found.gauge.plaquette_space) << ", time " << number("%.12f", found.gauge.plaquette_time)
      << ")\n  link trace  " << number("%.12g", found.gauge.link_trace.real()) << " "
      << number("%+.12g", found.gauge.link_trace.imag()) << " i\n";
  if (found.polyakov)
    out << "  Polyakov    " << number("%.12g", found.polyakov->real()) << " "
        << number("%+.12g", found.polyakov->imag()) << " i  (mean of tr P / 3)\n";
  out << "  unitarity   |U U^dagger - 1| <= " << number("%.3g", found.unitarity.max_deviation)
      << ", |det U - 1| <= " << number("%.3g", found.unitarity.max_determinant_deviation) << "\n";
  if (!found.gauge.fault.empty()) out << "  FAULT       " << found.gauge.fault << "\n";
  out << "  checks\n";
  print_checks(out, found.gauge.checksums);
  for (const std::string& warning : found.gauge.warnings) out << "    warning: " << warning << "\n";
  out << "  header\n";
  print_fields(out, header.fields);
  if (found.improved) return;
  out << "  memory for a solve with three colours (all ranks together, without halos)\n";
  for (const MemoryRow& row : memory_rows(header.extents))
    out << "    " << to_string(row.precision) << ", " << to_string(row.links)
        << " reals a link: " << number("%.4g", row.memory.total() * 1e-6) << " MB, of which the iteration streams "
        << number("%.4g", row.memory.device() * 1e-6) << " MB\n";
}

Json improved_json(const ImprovedInspection& improved) {
  Json json{{"holds", improved.role}, {"phases", nullptr}, {"boundary", nullptr}};
  if (improved.found) {
    json["phases"] = to_string(improved.found->phases);
    json["boundary"] = to_string(improved.found->boundary);
  }
  if (improved.role == "long") {
    json["naik_scale"] = improved.coefficient;
    json["naik_unitarity"] = improved.unitarity;
  }
  return json;
}

void print_json(std::ostream& out, const Inspection& found) {
  const GaugeHeader& header = found.header;
  Json json = json_of_text(header.path, to_json(found.gauge), "links");
  json["max_determinant_deviation"] = found.unitarity.max_determinant_deviation;
  json["finite"] = found.unitarity.finite;
  json["polyakov"] = nullptr;
  if (found.polyakov) json["polyakov"] = {found.polyakov->real(), found.polyakov->imag()};
  json["improved"] = nullptr;
  if (found.improved) json["improved"] = improved_json(*found.improved);
  json["lattice"] = header.extents;
  json["precision"] = to_string(header.precision);
  json["rows"] = header.rows;
  json["big_endian"] = header.big_endian;
  json["intact"] = found.intact();
  json["fault"] = or_null(found.gauge.fault);
  json["header"] = header.fields;
  json["memory_bytes"] = Json::array();
  for (const MemoryRow& row : memory_rows(header.extents))
    json["memory_bytes"].push_back({{"precision", to_string(row.precision)},
                                    {"links", reals_per_link(row.links)},
                                    {"rhs", 3},
                                    {"total", row.memory.total()},
                                    {"objects", row.memory.objects}});
  out << text_of_json(std::move(json)) << "\n";
}

}  // namespace

int run_inspect(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out) {
  const std::optional<OptionValues> values = parse_options(communicator, inspect_syntax(), arguments, out);
  if (!values) return exit_certified;
  const std::string path = values->text("file");
  const bool as_json = values->is_on("json"), no_verify = values->is_on("no-verify");
  const bool holds_links = values->count("dataset") || values->count("kyu") || values->count("lattice");
  communicator.agree([&] {
    if (communicator.is_root() && !values->count("kyu"))
      refuse_foreign_content(PosixFile::open_to_read(path), "a gauge configuration, colour vectors or eigenvectors");
  });
  if (values->is_on("header")) {
    print_header(out, stored_header(communicator, *values, path), as_json);
    return exit_certified;
  }
  if (!holds_links) {
    if (const auto eigenvectors = find_eigenvectors(communicator, path)) {
      inspect_eigenvectors(communicator, *eigenvectors, as_json, no_verify, out);
      return exit_certified;
    }
    if (const auto vectors = find_vectors(communicator, path)) {
      inspect_vectors(communicator, *vectors, as_json, no_verify, out);
      return exit_certified;
    }
  }
  const Inspection found = look_at(communicator, path, *values);
  (as_json ? print_json : print_text)(out, found);
  require_no_fault(path, found.gauge.fault);
  if (!no_verify) require_verified(found.header.path, found.gauge.checksums);
  return exit_certified;
}

}  // namespace staghorn
