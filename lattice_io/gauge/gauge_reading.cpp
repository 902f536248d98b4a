// How a gauge configuration is read: sites by slabs, checksums, links. Every checksum and every header number of every
// format is computed and compared here, in read_gauge.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "dirac/gauge/gauge_observables.hpp"
#include "halo/watch/error.hpp"
#include "lattice_io/files/header_text.hpp"
#include "lattice_io/files/scidac_volumes.hpp"
#include "lattice_io/files/site_slabs.hpp"
#include "lattice_io/gauge/gauge_format.hpp"
#include "lattice_io/gauge/link_bytes.hpp"
#include "lattice_io/hdf5/site_reader.hpp"

namespace staghorn {

namespace {

// Sums over stored links agree so far. openQCD's own bound is for a sum over 6 V plaquettes in fp64.
double tolerance_of(const GaugeHeader& header) {
  if (header.format == GaugeFormat::openqcd) return 64 * 0x1p-52 * std::sqrt(6.0 * double(volume(header.extents)));
  return header.precision == Precision::fp64 ? 1e-8 : 1e-6;
}

// Compares with a decimal number in a header, to `tolerance` and, where `digits_count`, to the digits written: a number
// of HDF5 is a double, whatever few digits show it.
// The numbers of a file have a decimal point in every locale, so that neither printf nor strtod will do.
ChecksumResult compare_number(const std::string& stored, double computed, double tolerance, bool digits_count) {
  std::string text = stored;
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == 'd' || c == 'D'; }, 'e');  // of Fortran
  const auto point = text.find('.');
  const auto exponent = text.find_first_of("eE");
  if (digits_count && exponent == std::string::npos) {
    const auto digits = point == std::string::npos ? 0 : text.size() - point - 1;
    tolerance = std::max(tolerance, 0.6 * std::pow(10.0, -double(digits)));
  }
  double value = 0;
  const char *begin = text.data() + text.starts_with('+'), *end = text.data() + text.size();
  const auto [stopped, failure] = std::from_chars(begin, end, value);
  const bool is_number = failure == std::errc() && stopped == end;
  return {stored, fixed_digits(computed, 12), is_number && std::abs(value - computed) <= tolerance};
}

// How the sites of an open file are fetched: at their offset, or as HDF5 and SciDAC say.
class SiteSource {
 public:
  explicit SiteSource(const GaugeHeader& header) : header_(header) {
    if (header.data_offset >= 0) file_.emplace(PosixFile::open_to_read(header.path));
    for (const auto& dataset : header.hdf5) hdf5_.emplace_back(*dataset, 4);
  }
  void fetch(int block, std::int64_t first_site, std::span<std::byte> sites) const {
    if (header_.volumes)
      header_.volumes->read(0, bytes_per_site(header_), first_site, sites);
    else if (!hdf5_.empty())
      hdf5_[std::size_t(block)].read(first_site, sites);
    else
      file_->read(header_.data_offset + (block * volume(header_.extents) + first_site) * block_site_bytes(header_),
                  sites);
  }

 private:
  const GaugeHeader& header_;
  std::optional<PosixFile> file_;
  std::vector<Hdf5SiteReader> hdf5_;  // one for each block
};

// Reads the sites of one block and adds its checksums to `computed`, under the names that header.checksums has.
void read_block(const Communicator& communicator, const GaugeHeader& header, int block, const SiteSource& source,
                LinkField& links, std::map<std::string, std::string>& computed) {
  const auto checksum = checksum_of(header), second = second_checksum_of(header);
  SiteSlabs(communicator, links.lattice(), block_site_bytes(header))
      .read(
          [&](std::int64_t first_site, std::span<std::byte> sites) {
            source.fetch(block, first_site, sites);
            if (checksum) checksum->add(first_site, sites);
            if (second) second->add(first_site, sites);
          },
          [&](std::int64_t first_site, std::span<const std::byte> sites) {
            unpack_links(header, block, sites, &links[first_site]);
          });
  if (checksum)
    for (const auto& [name, value] : checksum->combine(communicator))
      computed[checksum_name(header, block, name)] = value;
  if (second) computed.merge(second->combine(communicator));
}

}  // namespace

std::unique_ptr<SiteChecksum> checksum_of(const GaugeHeader& header) {
  if (header.format == GaugeFormat::npy || header.format == GaugeFormat::openqcd || header.format == GaugeFormat::kyu)
    return nullptr;
  if (header.datasets.size() > 1) return pyquda_checksum(block_site_bytes(header));
  if (header.format == GaugeFormat::milc) return milc_checksum(bytes_per_site(header), header.big_endian);
  if (header.format == GaugeFormat::nersc) return nersc_checksum(header.big_endian);
  return scidac_checksum(bytes_per_site(header));
}

std::string checksum_name(const GaugeHeader& header, int block, const std::string& sum) {
  return header.datasets.size() > 1 ? sum + " of " + header.datasets[std::size_t(block)] : sum;
}

// NERSC's own sum does not see two changes that cancel. Staghorn's NERSC files carry the SciDAC pair beside it.
std::unique_ptr<SiteChecksum> second_checksum_of(const GaugeHeader& header) {
  const bool has_one = header.checksums.count("suma") || header.checksums.count("sumb");
  if (header.format != GaugeFormat::nersc || !has_one) return nullptr;
  return scidac_checksum(bytes_per_site(header));
}

GaugeChecks read_gauge(const Communicator& communicator, const GaugeHeader& header, LinkField& links, bool verify) {
  if (links.lattice().global() != header.extents)
    throw FileError(header.path, "a lattice of " + to_string(links.lattice().global()), to_string(header.extents));
  std::optional<SiteSource> source;
  communicator.agree([&] { source.emplace(header); });
  std::map<std::string, std::string> computed;
  if (header.order == LinkOrder::at_odd_sites) read_openqcd_links(communicator, header, links);
  if (header.order != LinkOrder::at_odd_sites)
    for (int block = 0; block < n_blocks(header.order); ++block)
      read_block(communicator, header, block, *source, links, computed);

  GaugeChecks checks;
  checks.warnings = header.warnings;
  checks.checksums = compare_checksums(header.checksums, computed);
  const bool digits_count = header.format != GaugeFormat::hdf5 && header.format != GaugeFormat::openqcd;
  const double tolerance = tolerance_of(header);
  if (header.checksums.count("plaquette")) {
    checks.plaquette = plaquette(communicator, links);
    checks.checksums["plaquette"] =
        compare_number(header.checksums.at("plaquette"), checks.plaquette->all, tolerance, digits_count);
  }
  if (computed.empty() && header.checksums.empty()) {  // a format without anything to compare with
    checks.plaquette = plaquette(communicator, links);
    checks.checksums["plaquette"] = {"", fixed_digits(checks.plaquette->all, 12), false};
  }
  if (header.checksums.count("link_trace")) {
    checks.link_trace = link_trace(communicator, links);
    checks.checksums["link_trace"] =
        compare_number(header.checksums.at("link_trace"), checks.link_trace->real(), tolerance, digits_count);
  }
  if (verify) require_verified(header.path, checks.checksums);
  return checks;
}

}  // namespace staghorn
