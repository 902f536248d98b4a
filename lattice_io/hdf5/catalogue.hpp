// What an HDF5 file holds, as far as it is asked for: groups, datasets of numbers and their attributes. Rank 0 looks,
// or a child that may die of a damaged file (halo/child/bounded_child.hpp). Numbers: site_reader.hpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "dirac/algebra/precision.hpp"
#include "halo/communicator.hpp"

namespace staghorn {

struct Hdf5Dataset {
  std::string path, name;
  std::vector<std::int64_t> shape;
  bool is_complex = false;                // compounds {r, i} of two reals; else 16-bit integers, or reals
  Precision precision = Precision::fp64;  // of reals; fp16: 16-bit integers
  std::int64_t data_offset = -1;  // of the first number, little-endian, in one piece; -1: the library reads them
  std::map<std::string, std::string>
      attributes;  // texts as they are, numbers with their shortest digits, others left out

  std::int64_t value_bytes() const;  // of one value
  std::int64_t n_values() const;
};

std::int64_t number_of_values(const std::vector<std::int64_t>& shape);

class Hdf5Catalogue {
 public:
  bool is_hdf5() const { return !groups_.empty(); }
  // Whether the root group has a member of that name.
  bool contains(const std::string& name) const;
  // The members of group `name`, sorted; none if there is no such group.
  std::vector<std::string> members_of(const std::string& name) const;
  // The dataset `name`, of at least one number, complex, or 16-bit integers given `or_integers`. Throws Error if it is
  // none or cannot be read; if it is absent, with what is there instead and `advice`.
  const Hdf5Dataset& dataset(const std::string& name, const std::string& advice = "", bool or_integers = false) const;
  // The numbers of a dataset of one dimension that holds fp64 reals. Throws Error if it is absent or something else.
  std::vector<double> reals(const std::string& name) const;

  // All that were described; one of them cannot be read after all.
  const std::map<std::string, Hdf5Dataset>& datasets() const { return datasets_; }
  void refuse(const std::string& name, const std::string& fault) { faults_[name] = fault; }

  // As bytes, from rank to rank or from a child.
  std::string text() const;
  static Hdf5Catalogue from_text(const std::string& path, const std::string& text);

 private:
  friend class Hdf5Walk;
  const Hdf5Dataset& any_dataset(const std::string& name, const std::string& advice) const;

  std::string path_;
  std::map<std::string, std::vector<std::string>> groups_;  // "": the root group; empty where the file is not HDF5
  std::map<std::string, Hdf5Dataset> datasets_;             // of any numbers
  std::map<std::string, std::string> faults_;               // why a dataset cannot be read
};

// What `path` holds under the names `wanted`, of datasets and of groups with a few of them; of each group on the way
// the members. Throws Error if the file is HDF5 and cannot be read. Collective.
Hdf5Catalogue read_hdf5_catalogue(const Communicator& communicator, const std::string& path,
                                  const std::vector<std::string>& wanted);

// The same by this process. Local.
Hdf5Catalogue walk_hdf5(const std::string& path, const std::vector<std::string>& wanted);

}  // namespace staghorn
