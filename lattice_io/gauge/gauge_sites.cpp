// Links between files and ranks: read sites by slabs, take checksums, unpack; and the way back.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "dirac/gauge/gauge_observables.hpp"
#include "halo/watch/error.hpp"
#include "lattice_io/files/byte_order.hpp"
#include "lattice_io/files/checksums.hpp"
#include "lattice_io/files/hdf5_dataset.hpp"
#include "lattice_io/files/output_file.hpp"
#include "lattice_io/files/site_slabs.hpp"
#include "lattice_io/gauge/gauge_format.hpp"

namespace staghorn {

namespace {

static_assert(sizeof(Links) == 4 * 18 * sizeof(double));

std::unique_ptr<SiteChecksum> checksum_of(const GaugeHeader& header) {
  if (header.format == GaugeFormat::milc) return milc_checksum(bytes_per_site(header), header.big_endian);
  if (header.format == GaugeFormat::nersc) return nersc_checksum(header.big_endian);
  return scidac_checksum(bytes_per_site(header));
}

bool stores_plaquette(GaugeFormat format) { return format == GaugeFormat::nersc || format == GaugeFormat::hdf5; }

// Row 2 = conj(row 0 x row 1), for links in SU(3).
void complete_link(ColorMatrix<double>& u) {
  for (int j = 0; j < 3; ++j) {
    const Complex<double> a = u.e[0][(j + 1) % 3], b = u.e[1][(j + 2) % 3];
    const Complex<double> c = u.e[0][(j + 2) % 3], d = u.e[1][(j + 1) % 3];
    u.e[2][j] = {(a.re * b.re - a.im * b.im) - (c.re * d.re - c.im * d.im),
                 -((a.re * b.im + a.im * b.re) - (c.re * d.im + c.im * d.re))};
  }
}

void unpack(const GaugeHeader& header, std::span<const std::byte> bytes, Links* sites) {
  const std::int64_t link_reals = 6 * header.rows, link_bytes = link_reals * bytes_per_real(header.precision);
  for (const std::byte* from = bytes.data(); from != bytes.data() + bytes.size(); ++sites)
    for (auto& link : *sites) {
      decode_reals(from, link_reals, header.precision, header.big_endian, &link.e[0][0].re);
      if (header.rows == 2) complete_link(link);
      from += link_bytes;
    }
}

void pack(const GaugeHeader& header, const Links* sites, std::span<std::byte> bytes) {
  const std::int64_t link_reals = 6 * header.rows, link_bytes = link_reals * bytes_per_real(header.precision);
  for (std::byte* to = bytes.data(); to != bytes.data() + bytes.size(); ++sites)
    for (const auto& link : *sites) {
      encode_reals(&link.e[0][0].re, link_reals, header.precision, header.big_endian, to);
      to += link_bytes;
    }
}

// Agreement with a decimal number in a header: to the accuracy of sums over stored links, and of the digits written.
ChecksumResult compare_number(const std::string& stored, double computed, Precision precision) {
  char text[32];
  std::snprintf(text, sizeof text, "%.12f", computed);
  double tolerance = precision == Precision::fp64 ? 1e-8 : 1e-6;
  const auto point = stored.find('.');
  const auto exponent = stored.find_first_of("eE");
  if (exponent == std::string::npos) {
    const auto digits = point == std::string::npos ? 0 : stored.size() - point - 1;
    tolerance = std::max(tolerance, 0.6 * std::pow(10.0, -double(digits)));
  }
  char* end = nullptr;
  const double value = std::strtod(stored.c_str(), &end);
  return {stored, text, end != stored.c_str() && *end == '\0' && std::abs(value - computed) <= tolerance};
}

void require_matches(const std::string& path, const GaugeChecks& checks) {
  std::string wrong;
  for (const auto& [name, check] : checks.checksums)
    if (!check.match)
      wrong += (wrong.empty() ? "" : "; ") + name + " stored " + check.stored + ", computed " + check.computed;
  if (!wrong.empty()) throw Error(path + " is damaged or not what its header says: " + wrong);
}

// How the sites of an open file are fetched: at their offset, or through the HDF5 library.
class SiteSource {
 public:
  explicit SiteSource(const GaugeHeader& header) : header_(header) {
    if (header.data_offset >= 0)
      file_.emplace(PosixFile::open_to_read(header.path));
    else
      hdf5_.emplace(header.path, "links", 4);
  }
  void fetch(std::int64_t first_site, std::span<std::byte> sites) const {
    if (file_)
      file_->read(header_.data_offset + first_site * bytes_per_site(header_), sites);
    else
      hdf5_->read(first_site, sites);
  }

 private:
  const GaugeHeader& header_;
  std::optional<PosixFile> file_;
  std::optional<Hdf5SiteReader> hdf5_;
};

// Two rows can stand for a link only if the third follows from them.
void require_two_rows_suffice(const Communicator& communicator, const std::string& path, const LinkField& links) {
  double largest = 0;
#pragma omp parallel for reduction(max : largest)
  for (std::int64_t site = 0; site < links.size(); ++site)
    for (const auto& link : links[site]) {
      auto completed = link;
      complete_link(completed);
      for (int j = 0; j < 3; ++j)
        largest = std::max({largest, std::abs(completed.e[2][j].re - link.e[2][j].re),
                            std::abs(completed.e[2][j].im - link.e[2][j].im)});
    }
  largest = communicator.max(largest);
  if (!(largest < 1e-4))
    throw Error(path + ": two rows a link (4D_SU3_GAUGE)", "links in SU(3)",
                "a third row off by " + std::to_string(largest) + "; 4D_SU3_GAUGE_3x3 stores all rows");
}

std::unique_ptr<GaugeFrame> frame_of(const GaugeHeader& header, const Metadata& metadata) {
  if (header.format == GaugeFormat::milc) return milc_frame(header, metadata);
  if (header.format == GaugeFormat::nersc) return nersc_frame(header, metadata);
  if (header.format == GaugeFormat::hdf5) return hdf5_frame(header, metadata);
  return scidac_frame(header, metadata);
}

}  // namespace

GaugeChecks read_gauge(const Communicator& communicator, const GaugeHeader& header, LinkField& links, bool verify) {
  if (links.lattice().global() != header.extents)
    throw Error(header.path, "a lattice of " + to_string(links.lattice().global()), to_string(header.extents));
  std::optional<SiteSource> source;
  communicator.agree([&] { source.emplace(header); });
  const auto checksum = checksum_of(header);
  SiteSlabs(communicator, links.lattice(), bytes_per_site(header))
      .read(
          [&](std::int64_t first_site, std::span<std::byte> sites) {
            source->fetch(first_site, sites);
            checksum->add(first_site, sites);
          },
          [&](std::int64_t first_site, std::span<const std::byte> sites) {
            unpack(header, sites, &links[first_site]);
          });

  GaugeChecks checks;
  checks.warnings = header.warnings;
  for (const auto& [name, computed] : checksum->combine(communicator))
    if (header.checksums.count(name)) {
      const std::string& stored = header.checksums.at(name);
      checks.checksums[name] = {stored, computed, same_hexadecimal(stored, computed)};
    }
  if (header.checksums.count("plaquette")) {
    checks.plaquette = plaquette(communicator, links);
    checks.checksums["plaquette"] =
        compare_number(header.checksums.at("plaquette"), checks.plaquette->all, header.precision);
  }
  if (header.checksums.count("link_trace")) {
    checks.link_trace = link_trace(communicator, links);
    checks.checksums["link_trace"] =
        compare_number(header.checksums.at("link_trace"), checks.link_trace->real(), header.precision);
  }
  if (verify) require_matches(header.path, checks);
  return checks;
}

void write_gauge(const Communicator& communicator, const std::string& path, GaugeFormat format, Precision precision,
                 const LinkField& links, const Metadata& metadata, bool force) {
  GaugeHeader header;
  header.path = path;
  header.format = format;
  header.extents = links.lattice().global();
  header.precision = precision;
  header.rows = format == GaugeFormat::nersc && value_or(metadata, "DATATYPE", "") == "4D_SU3_GAUGE" ? 2 : 3;
  header.big_endian = format != GaugeFormat::milc && format != GaugeFormat::hdf5;
  const auto frame = frame_of(header, metadata);
  if (header.rows == 2) require_two_rows_suffice(communicator, path, links);

  OutputFile output(communicator, path, force);
  output.fill([&](const std::string& temporary) {
    const bool is_root = communicator.is_root();
    communicator.agree([&] {
      if (is_root) header.data_offset = frame->begin(temporary);
    });
    communicator.broadcast(&header.data_offset, sizeof header.data_offset);

    std::optional<PosixFile> file;
    communicator.agree([&] { file.emplace(PosixFile::open_to_write(temporary)); });
    const auto checksum = checksum_of(header);
    SiteSlabs(communicator, links.lattice(), bytes_per_site(header))
        .write([&](std::int64_t first_site, std::span<std::byte> sites) { pack(header, &links[first_site], sites); },
               [&](std::int64_t first_site, std::span<std::byte> sites) {
                 file->write(header.data_offset + first_site * bytes_per_site(header), sites);
                 checksum->add(first_site, sites);
               });
    communicator.agree([&] { file->flush_and_close(); });

    GaugeNumbers numbers;
    numbers.checksums = checksum->combine(communicator);
    if (stores_plaquette(format)) {
      numbers.plaquette = plaquette(communicator, links).all;
      numbers.link_trace = link_trace(communicator, links);
    }
    communicator.agree([&] {
      if (is_root) frame->finish(temporary, numbers);
    });
  });
}

}  // namespace staghorn
