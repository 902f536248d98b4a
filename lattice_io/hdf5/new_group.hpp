// A new HDF5 file with one group of datasets of complex numbers, whose texts have a variable length: h5py gives such a
// text as `str`, with which PyQUDA compares. Local.
//
//   superblock | root group | ... | numbers of each dataset, one after the other, from byte hdf5_data_offset on | heap
//   of the texts | headers of the datasets and of the group
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dirac/algebra/precision.hpp"

namespace staghorn {

struct NewHdf5Member {
  std::string name;
  std::map<std::string, std::string> texts;  // attributes
};

struct NewHdf5Group {
  std::string name;
  std::map<std::string, std::string> texts;  // attributes
  std::vector<std::int64_t> shape;           // of every dataset
  Precision precision = Precision::fp64;     // fp32 or fp64
  std::vector<NewHdf5Member> members;        // in the order of their numbers
};

// Writes everything but the numbers of the datasets into the existing file `path`, flushed and closed.
void write_hdf5_group(const std::string& path, const NewHdf5Group& group);

}  // namespace staghorn
