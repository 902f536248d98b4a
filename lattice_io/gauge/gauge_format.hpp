// What each gauge format supplies: parse a header, and frame a block of sites on writing.
//
// Which format a file has is found by parse_header in gauge_file.cpp. Everything here is local. Every rank parses the
// header itself (it opens the file for its slabs anyway); frames are written by rank 0 alone. The block of sites, the
// checksums and the exchange among ranks are the same for all formats: gauge_reading.cpp, gauge_writing.cpp.
#pragma once

#include <complex>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "lattice_io/files/checksums.hpp"
#include "lattice_io/files/posix_file.hpp"
#include "lattice_io/files/site_slabs.hpp"
#include "lattice_io/gauge/gauge_file.hpp"

namespace staghorn {

class Hdf5Catalogue;
using Metadata = std::map<std::string, std::string>;

// What is known of a configuration only once its sites have been written.
struct GaugeNumbers {
  std::map<std::string, std::string> checksums;  // 8 hexadecimal digits, by the names of checksums.hpp
  double plaquette = 0;                          // mean Re tr U_P / 3
  std::complex<double> link_trace;               // mean tr U / 3
};

// Writes what surrounds the sites in one file.
class GaugeFrame {
 public:
  virtual ~GaugeFrame() = default;
  // Writes what comes before the sites into the empty file `path` and returns the byte offset of the first site, or of
  // that in each block.
  virtual std::vector<std::int64_t> begin(const std::string& path) = 0;
  // Completes the file: all sites are written.
  virtual void finish(const std::string& path, const GaugeNumbers& numbers) = 0;
};

GaugeHeader read_milc_header(const PosixFile& file);
GaugeHeader read_nersc_header(const PosixFile& file);
// ILDG or SciDAC. `lattice`: the extents of a file that does not say them.
GaugeHeader read_lime_gauge_header(const PosixFile& file, const std::optional<Extents>& lattice);
GaugeHeader read_hdf5_gauge_header(const std::string& path, const std::string& name, const Hdf5Catalogue& file);
// The links of PyQUDA's group `name`; nothing if `path` has no group of that name with four members. Throws Error where
// these are not the directions.
std::optional<GaugeHeader> find_pyquda_links(const std::string& path, const std::string& name,
                                             const Hdf5Catalogue& file);
constexpr const char* pyquda_group = "LatticeColorMatrix";  // as PyQUDA calls it
GaugeHeader read_npy_gauge_header(const PosixFile& file);
// Nothing if the file is none of openQCD: four extents that the file's size fits.
std::optional<GaugeHeader> find_openqcd_header(const PosixFile& file);

// The frames for a file of the extents, precision, rows and byte order of `header`. `metadata` goes where the format
// has room for it.
std::unique_ptr<GaugeFrame> milc_frame(const GaugeHeader& header, const Metadata& metadata);
std::unique_ptr<GaugeFrame> nersc_frame(const GaugeHeader& header, const Metadata& metadata);
std::unique_ptr<GaugeFrame> scidac_frame(const GaugeHeader& header, const Metadata& metadata);  // ILDG or SciDAC
std::unique_ptr<GaugeFrame> hdf5_frame(const GaugeHeader& header, const Metadata& metadata);
// Gives `header` the names of its datasets.
std::unique_ptr<GaugeFrame> pyquda_frame(GaugeHeader& header);
std::unique_ptr<GaugeFrame> npy_frame(const GaugeHeader& header);
std::unique_ptr<GaugeFrame> openqcd_frame(const GaugeHeader& header);
std::unique_ptr<GaugeFrame> kyu_frame(const GaugeHeader& header);

// The links of an openQCD file, read and written by each rank at the odd sites it owns. Collective.
void read_openqcd_links(const Communicator& communicator, const GaugeHeader& header, LinkField& links);
void write_openqcd_links(const Communicator& communicator, const PosixFile& file, const LinkField& links);

// Bytes of the four links of a site as stored.
inline std::int64_t bytes_per_site(const GaugeHeader& header) {
  return std::int64_t{4} * header.rows * 6 * bytes_per_real(header.precision);
}

// How many blocks the links stand in, and the bytes of a site in each.
constexpr int n_blocks(LinkOrder order) {
  return order == LinkOrder::by_direction ? 4 : order == LinkOrder::by_real ? 72 : 1;
}
inline std::int64_t block_site_bytes(const GaugeHeader& header) {
  return bytes_per_site(header) / n_blocks(header.order);
}

// The checksum that the format of `header` defines for one block; nullptr where it has none.
std::unique_ptr<SiteChecksum> checksum_of(const GaugeHeader& header);
// The name of one of its checksums among those of all blocks: "sum29 of GROUP/X" of PyQUDA's, else `sum` itself.
std::string checksum_name(const GaugeHeader& header, int block, const std::string& sum);
// The second one of a NERSC file by Staghorn that has it in its header; nullptr for others.
std::unique_ptr<SiteChecksum> second_checksum_of(const GaugeHeader& header);

// Throws Error unless all extents are even and between 2 and 4096 (larger ones are a damaged header).
void require_usable_extents(const std::string& path, const Extents& extents);
// Throws Error if the file ends before its sites do; returns the number of bytes that follow them.
std::int64_t require_complete(const PosixFile& file, const GaugeHeader& header);

// metadata[key] or `otherwise`.
std::string value_or(const Metadata& metadata, const std::string& key, const std::string& otherwise);
// "Thu Jan  1 00:00:00 1970 UTC": now, or SOURCE_DATE_EPOCH (seconds since then) where the environment sets it, so
// that files can be reproduced to the byte.
std::string creation_date();
// "Staghorn" and its version.
std::string creator();

}  // namespace staghorn
