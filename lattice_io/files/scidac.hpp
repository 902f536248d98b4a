// SciDAC (QIO) files: fields in LIME records, each described by XML in front of it. Local.
//
// read_scidac_file says what a file holds. begin_scidac_file and end_scidac_field give the text around the numbers of a
// new file with one field, begin_scidac_field and end_scidac_field that around a further field.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dirac/algebra/precision.hpp"
#include "halo/lattice.hpp"
#include "lattice_io/files/checksums.hpp"
#include "lattice_io/files/posix_file.hpp"
#include "lattice_io/files/scidac_volumes.hpp"
#include "lattice_io/files/site_slabs.hpp"

namespace staghorn {

// Sites from `lower` to `upper`, both included: QIO's hypercube.
struct Hypercube {
  Coordinates lower{}, upper{};
  bool operator==(const Hypercube&) const = default;
  std::int64_t n_sites() const;
};
std::string to_string(const Hypercube& hypercube);  // "0 0 0 0 to 3 5 3 1"

// One field of a file: where it lies and what its XML says.
struct ScidacField {
  std::string datatype;  // QDP_F3_ColorMatrix, ...; "" without scidac-private-record-xml
  Precision precision = Precision::fp32;
  std::int64_t bytes_per_site = 0;               // typesize x datacount as declared; 0 where nothing is declared
  std::int64_t data_offset = 0, data_bytes = 0;  // of a file in volumes: data_bytes are those of all
  std::shared_ptr<const ScidacVolumes> volumes;  // of a file in parts; nullptr of others
  std::size_t number = 0;                        // among the fields of the file
  std::string part;                              // what it is instead of a field on the whole lattice; else ""
  std::optional<Hypercube> hypercube;            // the sites that it lies on, where that part is one
  std::map<std::string, std::string> checksums;  // suma, sumb as stored; empty where the file has none
  std::string record_xml;                        // the user's description of the field

  // Fills `sites` from site first_site on. `file` is the one that was read.
  void read(const PosixFile& file, std::int64_t first_site, std::span<std::byte> sites) const;
};

struct ScidacFile {
  Extents extents{};
  bool is_ildg = false;
  bool is_described = true;         // false: numbers alone, in a record ildg-binary-data; the extents are unknown
  std::vector<ScidacField> fields;  // without the sources that accompany propagators
  std::size_t n_sources = 0;        // how many those are
  std::map<std::string, std::string> texts;  // XML and text records by type (the first of each)
  std::int64_t trailing_bytes = 0;
  std::vector<std::string> warnings;  // of the LIME records
};

// Of a file in parts, `file` is the first volume. Throws Error for a damaged or unsupported file: global data, ILDG
// fields other than su3gauge; unless `with_hypercubes`, also fields on a part of the lattice; unless `or_bare`, also
// where nothing says what the lattice is.
ScidacFile read_scidac_file(const PosixFile& file, bool with_hypercubes = false, bool or_bare = false);
// Reads the sites of a field on the whole lattice, hands those of this rank to `place`, and compares the checksums.
// Collective. Throws Error on every rank alike where the file cannot be read.
ChecksumResults read_scidac_sites(const Communicator& communicator, const Lattice& lattice, const PosixFile& file,
                                  const ScidacField& field, const SiteSlabs::Place& place);

// A file with one field to be written. Its numbers are big-endian, `datacount` objects of `typesize` bytes a site.
struct NewScidacFile {
  Extents extents{};
  std::string datatype{};  // "QDP_F3_ColorMatrix"
  Precision precision = Precision::fp32;
  std::int64_t typesize = 0, datacount = 1;
  std::string date{};                                          // "Thu Jan  1 00:00:00 1970 UTC"
  std::string file_xml{}, record_xml{};                        // the user's, of the file and of the field
  std::vector<std::pair<std::string, std::string>> records{};  // type and text of more records before the numbers
  std::string data_type = "scidac-binary-data";
  std::optional<Hypercube> hypercube{};  // where the field lies on these sites alone

  std::int64_t data_bytes() const {
    return (hypercube ? hypercube->n_sites() : volume(extents)) * typesize * datacount;
  }
};

// What stands before the numbers, with the header of their record.
std::string begin_scidac_file(const NewScidacFile& file);
// The same without the head of the file, for a further field.
std::string begin_scidac_field(const NewScidacFile& file);
// What follows the numbers of a field. `checksums`: suma and sumb.
std::string end_scidac_field(const NewScidacFile& file, const std::map<std::string, std::string>& checksums);

// "QDP_F3_ColorMatrix" for "ColorMatrix" in fp32.
std::string qdp_datatype(const std::string& object, Precision precision);

}  // namespace staghorn
