// A new HDF5 file, written without the HDF5 library: one dataset of complex numbers or of 16-bit integers with short
// lists of reals beside it, or a few tables. Local.
//
//   superblock | root group | ... | numbers from byte hdf5_data_offset on | header of the dataset, with its attributes
//   | numbers and header of each list
//
// All metadata carry checksums (version 2 of superblock and object headers, which HDF5 1.8 and later read), and texts
// have a fixed length. The file has neither dates nor padding of unknown content, so equal input gives equal bytes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dirac/algebra/precision.hpp"

namespace staghorn {

constexpr std::int64_t hdf5_data_offset = 4096;

struct NewHdf5Dataset {
  std::string name;
  std::vector<std::int64_t> shape;
  Precision precision = Precision::fp64;               // fp16: 16-bit integers (hdf5_value_bytes)
  std::map<std::string, std::string> texts;            // attributes; what exceeds 60000 bytes is cut off
  std::map<std::string, double> numbers;               // attributes
  std::map<std::string, std::vector<double>> lists{};  // more datasets, of one dimension
};

// Writes everything but the numbers of the dataset into the existing file `path`, flushed and closed.
void write_hdf5_metadata(const std::string& path, const NewHdf5Dataset& dataset);

// A small dataset of reals, or of texts: either list may be filled.
struct Hdf5Table {
  std::string name;
  std::vector<std::int64_t> shape;           // of what is filled; an extent may be 0
  std::vector<double> numbers{};             // lexicographically
  std::vector<std::string> words{};          // likewise; stored with the length of the longest
  std::map<std::string, std::string> texts;  // attributes
};

// Writes a whole file with these tables into the existing file `path`, flushed and closed. Throws Error where there are
// too many for the first 4096 bytes, or a shape does not fit its table.
void write_hdf5_tables(const std::string& path, const std::vector<Hdf5Table>& tables);

}  // namespace staghorn
