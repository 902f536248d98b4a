// How a gauge configuration is written: frame, sites by slabs, checksums, and the numbers of the header.
#include <algorithm>
#include <optional>

#include "dirac/gauge/gauge_observables.hpp"
#include "halo/watch/error.hpp"
#include "lattice_io/content/field_faults.hpp"
#include "lattice_io/files/checksums.hpp"
#include "lattice_io/files/output_file.hpp"
#include "lattice_io/files/site_slabs.hpp"
#include "lattice_io/gauge/gauge_format.hpp"
#include "lattice_io/gauge/link_bytes.hpp"
#include "lattice_io/hdf5/new_file.hpp"

namespace staghorn {

namespace {

bool stores_plaquette(GaugeFormat format) {
  return format == GaugeFormat::nersc || format == GaugeFormat::hdf5 || format == GaugeFormat::openqcd;
}

// No file holds links that would be refused when it is read. What a NERSC or ILDG file may hold is part of its
// definition: links in SU(3). Two rows stand for a link only if the third follows from them closely.
void require_links_the_format_can_hold(const Communicator& communicator, const GaugeHeader& header,
                                       const LinkField& links) {
  if (const std::string fault = fault_of_links(communicator, links, header.precision); !fault.empty())
    throw Error(header.path,
                "links to write that are finite in " + to_string(header.precision) + " and of the size of links",
                fault);
  if (header.format != GaugeFormat::nersc && header.format != GaugeFormat::ildg) return;
  const double limit = header.rows == 2 ? 1e-4 : 1e-3;
  const UnitarityCheck check = check_unitarity(communicator, links);
  const double deviation = std::max(check.max_deviation, check.max_determinant_deviation);
  if (deviation <= limit) return;
  const std::string form = header.format == GaugeFormat::ildg ? "ildg (su3gauge)"
                           : header.rows == 2                 ? "nersc (4D_SU3_GAUGE, two rows a link)"
                                                              : "nersc (4D_SU3_GAUGE_3x3)";
  throw Error(header.path + ": format " + form, "links in SU(3) to " + three_digits(limit),
              "|U U^dagger - 1| up to " + three_digits(check.max_deviation) + ", |det U - 1| up to " +
                  three_digits(check.max_determinant_deviation) + "; the formats milc, scidac and hdf5 hold any links");
}

// Checksums of the bytes, and the observables of the links as a reader will see them.
GaugeNumbers numbers_of(const Communicator& communicator, const GaugeHeader& header, const LinkField& links,
                        std::map<std::string, std::string> checksums) {
  GaugeNumbers numbers;
  numbers.checksums = std::move(checksums);
  if (!stores_plaquette(header.format)) return numbers;
  std::optional<LinkField> rounded;
  if (header.precision == Precision::fp32 || header.rows == 2)
    communicator.agree([&] { rounded.emplace(links_as_stored(header, links)); });
  const LinkField& stored = rounded ? *rounded : links;
  numbers.plaquette = plaquette(communicator, stored).all;
  numbers.link_trace = link_trace(communicator, stored);
  return numbers;
}

std::unique_ptr<GaugeFrame> frame_of(GaugeHeader& header, const Metadata& metadata) {
  if (header.format == GaugeFormat::milc) return milc_frame(header, metadata);
  if (header.format == GaugeFormat::nersc) return nersc_frame(header, metadata);
  if (header.format == GaugeFormat::hdf5) return hdf5_frame(header, metadata);
  if (header.format == GaugeFormat::pyquda) return pyquda_frame(header);
  if (header.format == GaugeFormat::npy) return npy_frame(header);
  if (header.format == GaugeFormat::openqcd) return openqcd_frame(header);
  if (header.format == GaugeFormat::kyu) return kyu_frame(header);
  return scidac_frame(header, metadata);
}

LinkOrder order_of(GaugeFormat format) {
  return format == GaugeFormat::npy       ? LinkOrder::by_direction
         : format == GaugeFormat::pyquda  ? LinkOrder::by_direction
         : format == GaugeFormat::kyu     ? LinkOrder::by_real
         : format == GaugeFormat::openqcd ? LinkOrder::at_odd_sites
                                          : LinkOrder::by_site;
}

bool is_little_endian(GaugeFormat format) {
  return format == GaugeFormat::milc || format == GaugeFormat::hdf5 || format == GaugeFormat::npy ||
         format == GaugeFormat::openqcd || format == GaugeFormat::pyquda;
}

// Writes one block and adds its checksums to `computed`.
void write_block(const Communicator& communicator, const GaugeHeader& header, int block, const PosixFile& file,
                 std::int64_t offset, const LinkField& links, std::map<std::string, std::string>& computed) {
  const auto checksum = checksum_of(header), second = second_checksum_of(header);
  const std::int64_t site_bytes = block_site_bytes(header);
  SiteSlabs(communicator, links.lattice(), site_bytes)
      .write([&](std::int64_t first_site,
                 std::span<std::byte> sites) { pack_links(header, block, &links[first_site], sites); },
             [&](std::int64_t first_site, std::span<std::byte> sites) {
               file.write(offset + first_site * site_bytes, sites);
               if (checksum) checksum->add(first_site, sites);
               if (second) second->add(first_site, sites);
             });
  if (checksum)
    for (const auto& [name, value] : checksum->combine(communicator))
      computed[checksum_name(header, block, name)] = value;
  if (second) computed.merge(second->combine(communicator));
}

}  // namespace

void write_gauge(const Communicator& communicator, const std::string& path, GaugeFormat format, Precision precision,
                 const LinkField& links, const Metadata& metadata, const Replacing& how) {
  GaugeHeader header;
  header.path = path;
  header.format = format;
  header.extents = links.lattice().global();
  header.precision = precision;
  header.rows = format == GaugeFormat::nersc && value_or(metadata, "DATATYPE", "") == "4D_SU3_GAUGE" ? 2 : 3;
  header.big_endian = !is_little_endian(format);
  header.order = order_of(format);
  if (format == GaugeFormat::nersc) header.checksums = {{"suma", ""}, {"sumb", ""}};  // to be computed, too
  if (how.compress > 0 && format != GaugeFormat::hdf5 && format != GaugeFormat::pyquda)
    throw Error("`compress`", "a file of HDF5", "the format " + to_string(format));
  const auto frame = frame_of(header, metadata);
  require_links_the_format_can_hold(communicator, header, links);

  write_whole_file(communicator, path, how, [&](const std::string& temporary) {
    const bool is_root = communicator.is_root();
    std::vector<std::int64_t> offsets(std::size_t(n_blocks(header.order)), 0);
    communicator.agree([&] {
      if (!is_root) return;
      const std::vector<std::int64_t> begins = frame->begin(temporary);
      const std::int64_t block_bytes = volume(header.extents) * block_site_bytes(header);
      for (std::size_t block = 0; block < offsets.size(); ++block)
        offsets[block] = begins.size() > 1 ? begins.at(block) : begins.at(0) + std::int64_t(block) * block_bytes;
    });
    communicator.broadcast(offsets.data(), offsets.size() * sizeof offsets[0]);

    std::optional<PosixFile> file;
    communicator.agree([&] { file.emplace(PosixFile::open_to_write(temporary)); });
    std::map<std::string, std::string> checksums;
    if (header.order == LinkOrder::at_odd_sites) write_openqcd_links(communicator, *file, links);
    if (header.order != LinkOrder::at_odd_sites)
      for (int block = 0; block < n_blocks(header.order); ++block)
        write_block(communicator, header, block, *file, offsets[std::size_t(block)], links, checksums);
    communicator.agree([&] { file->flush_and_close(); });

    const GaugeNumbers numbers = numbers_of(communicator, header, links, std::move(checksums));
    communicator.agree([&] {
      if (is_root) frame->finish(temporary, numbers);
      if (is_root && how.compress > 0) compress_hdf5(temporary, how.compress);
    });
  });
}

}  // namespace staghorn
