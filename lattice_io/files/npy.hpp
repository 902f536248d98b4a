// NumPy's arrays of complex numbers in files (.npy). Local.
//
//   93 "NUMPY" | version 1, 2 or 3, 0 | bytes of the text: uint16, from version 2 on uint32, little-endian |
//   {'descr': '<c16', 'fortran_order': False, 'shape': (10, 8, 6, 4, 3), } and blanks | numbers
//
// [NumPy Enhancement Proposal 1]. The format has no checksum.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dirac/algebra/precision.hpp"
#include "lattice_io/files/posix_file.hpp"

namespace staghorn {

struct NpyArray {
  std::vector<std::int64_t> shape;
  Precision precision = Precision::fp64;  // of the two reals of a complex number
  bool big_endian = false;
  std::int64_t data_offset = 0;  // of the first number
};

const inline std::string npy_magic = "\x93NUMPY";

// Throws Error unless the file holds complex numbers in C's order, and ends with the last of them.
NpyArray read_npy_header(const PosixFile& file);
// What stands before the numbers of a new file: version 1, little-endian, a multiple of 64 bytes.
std::string npy_header(const std::vector<std::int64_t>& shape, Precision precision);

// "(10, 8, 6, 4, 3)"
std::string shape_text(const std::vector<std::int64_t>& shape);

}  // namespace staghorn
