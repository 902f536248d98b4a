// MILC's files of eigenvectors: SciDAC, one colour vector a record, on all sites and in MILC's phases.
//
//   XML of the file     <title>KS eigenvalues and vectors</title><Nvecs>n</Nvecs>
//   XML of a record     <eigVal>lambda</eigVal><resid>r</resid>,  lambda of -D^2
//
// No checksum covers the XML of a record: who reads a file finds lambda anew (solver/eigen/eigenpair_file.hpp).
//
// Even sites hold v of norm 1, odd sites i D v / sqrt(lambda). Even sites alone are read: they say everything. Phases
// differ by the sign (-1)^(t(x+y+z)) of each site. The XML of a packed file has <format>Packed</format> too, and each
// record lies on half of the lattice (milc_packed.hpp).
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <optional>

#include "dirac/stencil/boundary.hpp"
#include "halo/watch/error.hpp"
#include "lattice_io/content/xml_text.hpp"
#include "lattice_io/eigenvectors/eigenvector_format.hpp"
#include "lattice_io/eigenvectors/milc_packed.hpp"
#include "lattice_io/files/byte_order.hpp"
#include "lattice_io/files/header_text.hpp"
#include "lattice_io/files/lime.hpp"
#include "lattice_io/files/scidac.hpp"
#include "lattice_io/files/site_slabs.hpp"
#include "lattice_io/gauge/gauge_format.hpp"

namespace staghorn {

namespace {

constexpr const char *title = "KS eigenvalues and vectors", *packed_format = "Packed";
constexpr std::int64_t most_vectors = 1 << 20;

std::int64_t site_bytes_of(Precision precision) { return reals_per_eigenvector_site * bytes_per_real(precision); }

std::string file_xml(const ScidacFile& scidac) {
  const auto found = scidac.texts.find("scidac-file-xml");
  return found == scidac.texts.end() ? "" : found->second;
}

std::string text_of(const std::string& path, const ScidacFile& scidac, std::size_t record, const char* tag) {
  const std::string text = xml_value(scidac.fields[record].record_xml, tag);
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0')
    throw FileError(path + ": <" + tag + "> of record " + std::to_string(record), "a number", "'" + text + "'");
  return text;
}

double number(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

// What one in the last digit of a decimal number is worth.
double last_digit(std::string text) {
  const std::size_t exponent = std::min(text.find_first_of("eE"), text.size());
  std::size_t last = 0;
  for (std::size_t i = 0; i < exponent; ++i)
    if (std::isdigit(static_cast<unsigned char>(text[i])) != 0) text[last = i] = '0';
  text[last] = '1';
  return std::fabs(number(text));
}

std::vector<double> values_of(const std::string& path, const ScidacFile& scidac) {
  std::vector<double> values;
  for (std::size_t i = 0; i < scidac.fields.size(); ++i) values.push_back(number(text_of(path, scidac, i, "eigVal")));
  return values;
}

// Record `order[k]` holds the k-th value, ascending.
std::vector<std::size_t> ascending_order(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  return order;
}

// Values, what their last digits are worth, and residuals, which are known where every record has one.
void take_numbers(EigenvectorHeader& header, const ScidacFile& scidac) {
  const std::vector<double> values = values_of(header.path, scidac);
  bool all = true;
  for (const std::size_t record : ascending_order(values)) {
    header.values.push_back(values[record]);
    header.last_digits.push_back(last_digit(text_of(header.path, scidac, record, "eigVal")));
    const bool has = !xml_value(scidac.fields[record].record_xml, "resid").empty();
    header.residuals.push_back(has ? number(text_of(header.path, scidac, record, "resid")) : 0);
    all = all && header.residuals.back() > 0 && std::isfinite(header.residuals.back());
  }
  if (!all) header.residuals.clear();
}

double milc_sign(const Lattice& lattice, std::int64_t site) {
  return milc_phase_sign(lattice.to_global(lattice.site_coordinates(site)));
}

ColorVector<double> decode(const std::byte* from, Precision precision, double sign) {
  double v[6]{};
  decode_reals(from, 6, precision, true, v);
  return {{{sign * v[0], sign * v[1]}, {sign * v[2], sign * v[3]}, {sign * v[4], sign * v[5]}}};
}

void encode(const ColorVector<double>& site, Precision precision, double sign, std::byte* to) {
  const auto& c = site.c;
  const double v[6] = {sign * c[0].re, sign * c[0].im, sign * c[1].re, sign * c[1].im, sign * c[2].re, sign * c[2].im};
  encode_reals(v, 6, precision, true, to);
}

bool is_even(const Lattice& lattice, std::int64_t site) {
  const Coordinates x = lattice.to_global(lattice.site_coordinates(site));
  return ((x[0] + x[1] + x[2] + x[3]) & 1) == 0;
}

// Calls visit(site, its bytes) for consecutive sites. `Bytes` may be const.
template <class Bytes, class Visit>
void each_site(std::int64_t first_site, std::span<Bytes> sites, std::int64_t site_bytes, const Visit& visit) {
  Bytes* at = sites.data();
  for (std::int64_t site = first_site; at != sites.data() + sites.size(); ++site, at += site_bytes) visit(site, at);
}

std::string digits(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.18e", value);
  return text;
}

}  // namespace

bool holds_milc_eigenvectors(const std::string& path) {
  try {
    const ScidacFile scidac = read_scidac_file(PosixFile::open_to_read(path), true);
    return xml_value(file_xml(scidac), "title") == title || !xml_value(file_xml(scidac), "Nvecs").empty();
  } catch (const Error&) {
    return false;
  }
}

void require_readable_scidac(const std::string& path) {
  const PosixFile file = PosixFile::open_to_read(path);
  std::array<std::byte, 4> word{};
  if (file.size() >= 4) file.read(0, word);
  if (load_word<std::uint32_t>(word.data(), true) == lime_magic) read_scidac_file(file, true);
}

EigenvectorHeader read_milc_eigenvector_header(const std::string& path) {
  const ScidacFile scidac = read_scidac_file(PosixFile::open_to_read(path), true);
  const std::string xml = file_xml(scidac), form = xml_value(xml, "format");
  if (!form.empty() && form != packed_format)
    throw FileError(path + ": <format> of eigenvectors", "none, or " + std::string(packed_format), form);
  const bool packed = form == packed_format;
  if (packed && !can_be_packed(scidac.extents))
    throw FileError(path + ": T of packed eigenvectors", "a multiple of 4", scidac.extents[3]);
  const std::int64_t count = whole_number(path + ": <Nvecs>", xml_value(xml, "Nvecs"), 1, most_vectors);
  if (std::int64_t(scidac.fields.size()) != count)
    throw FileError(path + ": records of vectors", std::to_string(count) + ", as <Nvecs> says", scidac.fields.size());
  EigenvectorHeader header;
  header.path = path;
  header.format = packed ? EigenvectorFormat::milc_packed : EigenvectorFormat::milc;
  header.extents = scidac.extents;
  header.precision = scidac.fields.front().precision;
  header.fields = scidac.texts;
  const auto part = packed ? std::optional(packed_half(scidac.extents)) : std::nullopt;
  for (const ScidacField& field : scidac.fields) {
    if (field.hypercube != part)
      throw FileError(
          path + ": sites of an eigenvector " + (packed ? "where <format> is Packed" : "where there is no <format>"),
          part ? to_string(*part) : "the whole lattice",
          field.hypercube ? to_string(*field.hypercube) : "the whole lattice");
    if (field.datatype.find("ColorVector") == std::string::npos || field.precision != header.precision ||
        field.bytes_per_site != site_bytes_of(field.precision) ||
        field.data_bytes != (part ? part->n_sites() : volume(scidac.extents)) * field.bytes_per_site)
      throw FileError(path + ": record of an eigenvector",
                      "one colour vector a site, in one precision, on " +
                          (part ? "sites " + to_string(*part) : to_string(scidac.extents) + " sites"),
                      field.datatype + ", " + std::to_string(field.bytes_per_site) + " bytes a site, " +
                          std::to_string(field.data_bytes) + " in all");
  }
  take_numbers(header, scidac);
  return header;
}

void read_milc_eigenvectors(const Communicator& communicator, const EigenvectorHeader& header, const Lattice& lattice,
                            bool no_verify, const BeginVector& begin, const EndVector& end) {
  ScidacFile scidac;
  std::optional<PosixFile> file;
  communicator.agree([&] {
    file.emplace(PosixFile::open_to_read(header.path));
    scidac = read_scidac_file(*file, true);
  });
  const std::vector<std::size_t> order = ascending_order(values_of(header.path, scidac));
  for (std::size_t k = 0; k < order.size(); ++k) {
    const ScidacField& stored = scidac.fields[order[k]];
    VectorField& field = begin(std::int64_t(k));
    const auto place = [&](std::int64_t site, const std::byte* from) {
      if (is_even(lattice, site)) field[site] = decode(from, stored.precision, milc_sign(lattice, site));
    };
    const ChecksumResults results =
        stored.hypercube ? read_packed_sites(communicator, lattice, *file, stored, place)
                         : read_scidac_sites(communicator, lattice, *file, stored,
                                             [&](std::int64_t first_site, std::span<const std::byte> sites) {
                                               each_site(first_site, sites, stored.bytes_per_site, place);
                                             });
    if (!no_verify) require_verified(header.path + ": record " + std::to_string(order[k]), results);
    end(std::int64_t(k));
  }
}

void fill_milc_eigenvectors(const Communicator& communicator, const std::string& path, const Lattice& lattice,
                            const NewEigenvectorFile& described, const NextVector& vector) {
  const Precision precision = described.precision;
  const std::int64_t site_bytes = site_bytes_of(precision);
  NewScidacFile scidac{lattice.global(), qdp_datatype("ColorVector", precision), precision, site_bytes};
  const bool packed = described.format == EigenvectorFormat::milc_packed;
  if (packed) scidac.hypercube = packed_half(lattice.global());
  scidac.date = creation_date();
  std::string lines;
  for (const auto& [name, value] : described.attributes) lines += name + " " + value + "\n";
  scidac.file_xml = xml_start + xml_tagged("title", title) +
                    xml_tagged("Nvecs", std::to_string(described.values.size())) +
                    (packed ? xml_tagged("format", packed_format) : "") + xml_tagged("info", "\n" + xml_escaped(lines));
  std::optional<PosixFile> file;
  communicator.agree([&] { file.emplace(PosixFile::open_to_write(path)); });
  std::int64_t at = 0;
  for (std::size_t k = 0; k < described.values.size(); ++k) {
    const VectorField& field = vector(std::int64_t(k));
    scidac.record_xml = xml_start + xml_tagged("eigVal", digits(described.values[k])) +
                        (described.residuals.empty() ? "" : xml_tagged("resid", digits(described.residuals[k])));
    const std::string beginning = k == 0 ? begin_scidac_file(scidac) : begin_scidac_field(scidac);
    const std::int64_t data_offset = at + std::int64_t(beginning.size());
    const auto checksum = scidac_checksum(site_bytes);
    const auto pack = [&](std::int64_t site, std::byte* to) {
      encode(field[site], precision, milc_sign(lattice, site), to);
    };
    const auto store = [&](std::int64_t first_site, std::span<std::byte> sites) {
      file->write(data_offset + first_site * site_bytes, sites);
      checksum->add(first_site, sites);
    };
    if (packed)
      write_packed_sites(communicator, lattice, site_bytes, pack, store);
    else
      SiteSlabs(communicator, lattice, site_bytes)
          .write([&](std::int64_t first_site,
                     std::span<std::byte> sites) { each_site(first_site, sites, site_bytes, pack); },
                 store);
    const std::string end = end_scidac_field(scidac, checksum->combine(communicator));
    communicator.agree([&] {
      if (!communicator.is_root()) return;
      file->write_text(at, beginning);
      file->write_text(data_offset + scidac.data_bytes(), end);
    });
    at = data_offset + scidac.data_bytes() + std::int64_t(end.size());
  }
  communicator.agree([&] { file->flush_and_close(); });
}

}  // namespace staghorn
