// Gauge configuration files: MILC v5, NERSC archive, ILDG and SciDAC in LIME, and Staghorn's own HDF5.
//
// The format is found from the content, never from the name. Reading verifies every checksum and header value that the
// format defines. A wrong value and an absent checksum are errors; an absent plaquette or link trace is a warning.
// Files are read and written by slabs in parallel, never whole on one rank; links are exchanged as LinkFields (fp64,
// local sites).
#pragma once

#include <complex>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dirac/algebra/precision.hpp"
#include "dirac/fields/site_field.hpp"
#include "dirac/gauge/gauge_observables.hpp"
#include "halo/communicator.hpp"
#include "lattice_io/files/checksums.hpp"

namespace staghorn {

enum class GaugeFormat { milc, nersc, ildg, scidac, hdf5 };
std::string to_string(GaugeFormat format);
GaugeFormat parse_gauge_format(const std::string& text);  // throws Error naming the choices
// What the ending of a file's name asks for: .milc, .nersc, .ildg, .scidac (or .lime), .h5 (or .hdf5); nothing for
// other endings. Throws Error for endings of formats that Staghorn does not write, as x.npy. Local.
std::optional<GaugeFormat> gauge_format_by_name(const std::string& path);

// What the header says; nothing of the links has been read yet.
struct GaugeHeader {
  std::string path;
  GaugeFormat format = GaugeFormat::milc;
  std::string dataset;  // of HDF5: where the links are
  Extents extents{};
  Precision precision = Precision::fp32;  // of the stored numbers
  int rows = 3;                           // rows stored per link: 3 or 2
  bool big_endian = true;
  std::map<std::string, std::string> fields;  // every header field as text, for `inspect`

  std::int64_t data_offset = -1;                 // byte of the first site; -1 where Hdf5SiteReader reads them
  std::map<std::string, std::string> checksums;  // as stored, by the names of GaugeChecks
  std::vector<std::string> warnings;             // header numbers that the format defines and the file lacks
};

// Names of the checks: sum29, sum31 (MILC); nersc, plaquette, link_trace (NERSC), suma, sumb too in those by Staghorn;
// suma, sumb (ILDG, SciDAC); suma, sumb, plaquette (HDF5).
struct GaugeChecks {
  ChecksumResults checksums;          // every checksum of the format, and the header numbers that the file has
  std::vector<std::string> warnings;  // header numbers that the format defines and the file lacks
  // Of the links as read, where the header had them to compare with.
  std::optional<Plaquette> plaquette;
  std::optional<std::complex<double>> link_trace;
};

// Parses the header. In HDF5 the links are `dataset`, a name as "links" or "group/links"; "links" if it is not given.
// Collective; every rank gets the same. Throws Error naming the file, what was expected and found, and where a dataset
// is given for another format than HDF5.
GaugeHeader read_gauge_header(const Communicator& communicator, const std::string& path,
                              const std::optional<std::string>& dataset = std::nullopt);

// Reads this rank's links. With `verify` a mismatch or an absent checksum throws Error naming file, stored and computed
// value. Without it both are only recorded in the result. Collective.
GaugeChecks read_gauge(const Communicator& communicator, const GaugeHeader& header, LinkField& links,
                       bool verify = true);

// Writes `links` with every checksum and header value that the format defines, to a temporary name beside `path`, and
// renames it when complete. `precision` of the stored numbers (MILC has fp32 only). Refuses to replace a file unless
// `force`. `metadata` (for instance GaugeHeader::fields of another file) goes where the format has room for it:
//   NERSC      ENSEMBLE_ID, ENSEMBLE_LABEL, SEQUENCE_NUMBER, BETA and so on; DATATYPE = 4D_SU3_GAUGE asks for two rows
//   ILDG       ildg-data-lfn; SciDAC and ILDG: scidac-file-xml, scidac-record-xml
//   HDF5       every entry becomes an attribute of /links
// Collective.
void write_gauge(const Communicator& communicator, const std::string& path, GaugeFormat format, Precision precision,
                 const LinkField& links, const std::map<std::string, std::string>& metadata = {}, bool force = false);

}  // namespace staghorn
