// SciDAC (QIO) files: fields in LIME records, each described by XML in front of it. Local.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dirac/algebra/precision.hpp"
#include "halo/lattice.hpp"
#include "lattice_io/files/posix_file.hpp"

namespace staghorn {

// One field of a file: where it lies and what its XML says.
struct ScidacField {
  std::string datatype;  // QDP_F3_ColorMatrix, ...; "" without scidac-private-record-xml
  Precision precision = Precision::fp32;
  std::int64_t bytes_per_site = 0;  // typesize x datacount as declared; 0 where nothing is declared
  std::int64_t data_offset = 0, data_bytes = 0;
  std::map<std::string, std::string> checksums;  // suma, sumb as stored; empty where the file has none
};

struct ScidacFile {
  Extents extents{};
  bool is_ildg = false;
  std::vector<ScidacField> fields;
  std::map<std::string, std::string> texts;  // XML and text records by type (the first of each)
  std::int64_t trailing_bytes = 0;
};

// Throws Error for a damaged or unsupported file: multi-file volumes, global data, ILDG fields other than su3gauge.
ScidacFile read_scidac_file(const PosixFile& file);

// The text between <tag ...> and </tag>, blanks trimmed; "" if there is none.
std::string xml_value(const std::string& xml, const std::string& tag);

}  // namespace staghorn
