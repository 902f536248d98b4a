// The skeleton of an HDF5 file: superblock, group, and the messages in an object's header. Local.
//
// Staghorn reads HDF5 without the HDF5 library: that library ends the process, or never returns, on some damaged files.
// Here every address and length is checked against the file before it is used, and every walk is bounded. Where the
// file has checksums of metadata (version 2 of superblock and object headers), they are verified.
// [HDF5 File Format Specification, version 3.0]
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lattice_io/files/foreign_files.hpp"
#include "lattice_io/files/posix_file.hpp"
#include "lattice_io/hdf5/metadata_bytes.hpp"

namespace staghorn {

// A message of an object header. The numbers are those of the specification.
struct Hdf5Message {
  enum Type : int {
    dataspace = 0x01,
    link_info = 0x02,
    datatype = 0x03,
    link = 0x06,
    external_files = 0x07,
    layout = 0x08,
    filters = 0x0b,
    attribute = 0x0c,
    continuation = 0x10,
    symbol_table = 0x11,
    attribute_info = 0x15,
  };
  int type;
  bool shared;  // the bytes refer to a message elsewhere
  MetadataBytes bytes;
};

class Hdf5File {
 public:
  // Throws Error unless `path` has an HDF5 superblock that is whole, at its start or behind a block of the user.
  explicit Hdf5File(const std::string& path);

  const std::string& path() const { return file_.path(); }
  const PosixFile& file() const { return file_; }
  // The byte of the file that an address means. Throws Error unless n_bytes from there are in the file.
  std::int64_t offset(std::uint64_t address, std::uint64_t n_bytes, const std::string& what) const;
  // n_bytes of metadata. Throws Error if they are not in the file, or unreasonably many.
  MetadataBytes block(std::uint64_t address, std::uint64_t n_bytes, const std::string& what) const;

  // The message that another refers to: a type that is an object of its own.
  MetadataBytes committed_type(MetadataBytes reference) const;

  // The messages of the dataset `name`, with slashes between groups and the dataset. Throws Error if there is none, or
  // if it is a group: what is there instead, and `advice`.
  std::vector<Hdf5Message> object(const std::string& name, const std::string& advice = "") const;
  // The members of group `name`, sorted; none if there is no such group.
  std::vector<std::string> members_of(const std::string& name) const;
  // Whether the root group has a member of that name.
  bool contains(const std::string& name) const { return members(root_, "root group").count(name) > 0; }

 private:
  // With `committed`, a type elsewhere stands in place of the reference to it.
  std::vector<Hdf5Message> messages(std::uint64_t address, const std::string& what, bool committed = true) const;
  std::map<std::string, std::uint64_t> members(std::uint64_t group, const std::string& name) const;

  PosixFile file_;
  std::int64_t base_ = 0;  // the byte of the file that addresses count from
  std::uint64_t root_ = 0;
};

}  // namespace staghorn
