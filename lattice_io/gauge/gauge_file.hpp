// Gauge configuration files: MILC v5, NERSC archive, ILDG and SciDAC in LIME, Staghorn's own HDF5 and PyQUDA's, NumPy's
// arrays, openQCD, KYU.
//
// The format is found from the content, never from the name. KYU's files have no header: read_kyu_header is told.
// Reading verifies every checksum and header value that the format defines. A wrong value and an absent checksum are
// errors; an absent plaquette or link trace is a warning. Files are read and written by slabs in parallel, never whole
// on one rank; links are exchanged as LinkFields (fp64, local sites).
#pragma once

#include <complex>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dirac/algebra/precision.hpp"
#include "dirac/fields/site_field.hpp"
#include "dirac/gauge/gauge_observables.hpp"
#include "halo/communicator.hpp"
#include "lattice_io/files/checksums.hpp"
#include "lattice_io/files/output_file.hpp"

namespace staghorn {

class ScidacVolumes;
struct Hdf5Dataset;

enum class GaugeFormat { milc, nersc, ildg, scidac, hdf5, npy, openqcd, kyu, pyquda };
std::string to_string(GaugeFormat format);
GaugeFormat parse_gauge_format(const std::string& text);  // throws Error naming the choices
// What the ending of a file's name asks for: .milc, .nersc, .ildg, .scidac (or .lime), .h5 (or .hdf5), .npy, .openqcd,
// .kyu, .pyquda; nothing for other endings. Throws Error for endings of formats that Staghorn does not write, as
// x.json. Local.
std::optional<GaugeFormat> gauge_format_by_name(const std::string& path);

// The precision in which a format is written unless somebody asks for another: that of the links as they are, but what
// MILC, openQCD and KYU know alone, and fp64 for NumPy's arrays, which PyQUDA takes in no other.
Precision usual_precision(GaugeFormat format, Precision links);

// In which order the reals of all links stand in a file; the sites of each block are in lexicographic order.
enum class LinkOrder {
  by_site,       // one block: site, mu, row, column
  by_direction,  // four blocks, for mu: site, row, column
  by_real,       // 72 blocks, for mu, column, row, real or imaginary part: site
  at_odd_sites,  // openQCD's (openqcd.cpp), for which nothing of the above holds
};

// What the header says; nothing of the links has been read yet.
struct GaugeHeader {
  std::string path;
  GaugeFormat format = GaugeFormat::milc;
  std::vector<std::string> datasets;  // of HDF5: where the blocks of links are
  Extents extents{};
  Precision precision = Precision::fp32;  // of the stored numbers
  int rows = 3;                           // rows stored per link: 3 or 2
  bool big_endian = true;
  LinkOrder order = LinkOrder::by_site;
  std::map<std::string, std::string> fields;  // every header field as text, for `inspect`

  std::int64_t data_offset = -1;                 // byte of the first site; -1 where `datasets` or `volumes` have them
  std::shared_ptr<const ScidacVolumes> volumes;  // of a SciDAC file in parts, whose first field holds the links
  std::vector<std::shared_ptr<const Hdf5Dataset>> hdf5;  // what `datasets` are
  std::map<std::string, std::string> checksums;          // as stored, by the names of GaugeChecks
  std::vector<std::string> warnings;                     // header numbers that the format defines and the file lacks
};

// Names of the checks: sum29, sum31 (MILC); nersc, plaquette, link_trace (NERSC), suma, sumb too in those by Staghorn;
// suma, sumb (ILDG, SciDAC); suma, sumb, plaquette (HDF5); "sum29 of NAME", "sum31 of NAME" for each dataset of
// PyQUDA's HDF5; plaquette (openQCD). The files of NumPy and KYU have nothing to compare with: their plaquette counts
// as absent.
struct GaugeChecks {
  ChecksumResults checksums;          // every checksum of the format, and the header numbers that the file has
  std::vector<std::string> warnings;  // header numbers that the format defines and the file lacks
  // Of the links as read, where the header had them to compare with.
  std::optional<Plaquette> plaquette;
  std::optional<std::complex<double>> link_trace;
};

// Parses the header. In HDF5 the links are `dataset`, a name as "links" or "group/links", or a group with PyQUDA's four
// datasets; if it is not given, "links", or where there is none, PyQUDA's group "LatticeColorMatrix".
// `lattice`: the extents of a LIME file with nothing but the numbers of ILDG; those of other files must agree.
// Collective; every rank gets the same. Throws Error naming the file, what was expected and found, and where a dataset
// is given for another format than HDF5.
GaugeHeader read_gauge_header(const Communicator& communicator, const std::string& path,
                              const std::optional<std::string>& dataset = std::nullopt,
                              const std::optional<Extents>& lattice = std::nullopt);
// The header that a file of KYU does not have: the caller knows the extents. Collective. Throws Error unless the file
// has the bytes of such links.
GaugeHeader read_kyu_header(const Communicator& communicator, const std::string& path, const Extents& extents);

// Reads this rank's links. With `verify` a mismatch or an absent checksum throws Error naming file, stored and computed
// value. Without it both are only recorded in the result. Collective.
GaugeChecks read_gauge(const Communicator& communicator, const GaugeHeader& header, LinkField& links,
                       bool verify = true);

// Writes `links` with every checksum and header value that the format defines, to a temporary name beside `path`, and
// renames it when complete. `precision` of the stored numbers (MILC has fp32 only; openQCD and KYU fp64 only). Refuses
// to replace a file unless `how.force`, and links that are not finite in that precision, or zero. `metadata` (for
// instance GaugeHeader::fields of another file) goes where the format has room for it:
//   NERSC      ENSEMBLE_ID, ENSEMBLE_LABEL, SEQUENCE_NUMBER, BETA and so on; DATATYPE = 4D_SU3_GAUGE asks for two rows
//   ILDG       ildg-data-lfn; SciDAC and ILDG: scidac-file-xml, scidac-record-xml
//   HDF5       every entry becomes an attribute of /links
// Collective.
void write_gauge(const Communicator& communicator, const std::string& path, GaugeFormat format, Precision precision,
                 const LinkField& links, const std::map<std::string, std::string>& metadata = {},
                 const Replacing& how = false);

}  // namespace staghorn
