// New HDF5 files, of which the library writes all but the large numbers: it says where these begin, and all ranks write
// them. Local.
//
// Metadata have checksums: superblock 2 and object headers 2, which HDF5 1.8 and later read. The file has no dates of
// the library's, so equal input gives equal bytes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dirac/algebra/precision.hpp"

namespace staghorn {

struct NewHdf5Dataset {
  std::string name;  // or group/name
  std::vector<std::int64_t> shape;
  Precision precision = Precision::fp64;  // of complex numbers; fp16: 16-bit integers
};

// Makes the existing file `path` one of HDF5 with these datasets, without numbers, and returns where each begins. With
// `goes_on` a file stays as it is that has them already.
std::vector<std::int64_t> begin_hdf5(const std::string& path, const std::vector<NewHdf5Dataset>& datasets,
                                     bool goes_on = false);

// Of one object. Texts have a fixed length, and what exceeds 60000 bytes is cut off; or a variable one: h5py gives such
// a text as `str`, with which PyQUDA compares.
struct Hdf5Attributes {
  std::string object;
  std::map<std::string, std::string> texts;
  std::map<std::string, double> numbers{};
  bool variable_length = false;
};

// A small dataset of reals, or of texts: either list may be filled.
struct Hdf5Table {
  std::string name;
  std::vector<std::int64_t> shape;           // of what is filled; an extent may be 0
  std::vector<double> numbers{};             // lexicographically
  std::vector<std::string> words{};          // likewise; stored with the length of the longest
  std::map<std::string, std::string> texts;  // attributes
};

// Adds attributes and tables to the file, flushed to the disk. Throws Error where a shape does not fit its table.
void finish_hdf5(const std::string& path, const std::vector<Hdf5Attributes>& attributes,
                 const std::vector<Hdf5Table>& tables = {});

// Writes the complete file once more, its fields shuffled and deflated in chunks within time slices. `level`: 1 to 9 of
// gzip. It needs the disk for both.
void compress_hdf5(const std::string& path, int level);

}  // namespace staghorn
