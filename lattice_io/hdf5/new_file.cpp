#include "lattice_io/hdf5/new_file.hpp"

#include <bit>

#include "halo/watch/error.hpp"
#include "lattice_io/files/posix_file.hpp"
#include "lattice_io/hdf5/attributes.hpp"
#include "lattice_io/hdf5/dataset.hpp"
#include "lattice_io/hdf5/object_header.hpp"
#include "lattice_io/hdf5/value_type.hpp"

namespace staghorn {

namespace {

constexpr std::size_t longest_text = 60000;  // a message is shorter than 64 KiB

std::string with_checksum(const std::string& bytes) { return bytes + little_endian(lookup3(bytes), 4); }

std::string message(Hdf5Message::Type type, const std::string& body) {
  return little_endian(std::uint64_t(type), 1) + little_endian(body.size(), 2) + little_endian(0, 1) + body;
}

// An object header in one piece. Its limits let HDF5 add attributes without moving the others into an index.
std::string object_header(const std::string& messages) {
  constexpr std::uint64_t limits_follow = 0x10, four_bytes_of_length = 2;
  return with_checksum("OHDR" + little_endian(2, 1) + little_endian(limits_follow | four_bytes_of_length, 1) +
                       little_endian(1 << 12, 2) + little_endian(0, 2) + little_endian(messages.size(), 4) + messages);
}

std::string empty_index() { return little_endian(undefined_address, 8) + little_endian(undefined_address, 8); }

std::int64_t bytes_of(const NewHdf5Dataset& dataset) {
  return number_of_values(dataset.shape) * hdf5_value_bytes(dataset.precision);
}

// What every dataset has: shape, type, and numbers in one piece from `offset` on.
std::string array_messages(const std::vector<std::int64_t>& shape, const std::string& type, std::int64_t offset,
                           std::int64_t bytes) {
  constexpr Hdf5Message::Type fill_value = Hdf5Message::Type(0x05);
  constexpr std::uint64_t early_space_no_fill = 0x05;
  return message(Hdf5Message::dataspace, hdf5_shape(shape)) + message(Hdf5Message::datatype, type) +
         message(fill_value, little_endian(3, 1) + little_endian(early_space_no_fill, 1)) +
         message(Hdf5Message::layout, little_endian(3, 1) + little_endian(1, 1) +
                                          little_endian(std::uint64_t(offset), 8) +
                                          little_endian(std::uint64_t(bytes), 8)) +
         message(Hdf5Message::attribute_info, little_endian(0, 2) + empty_index());
}

std::string dataset_header(const NewHdf5Dataset& dataset) {
  const std::string type =
      dataset.precision == Precision::fp16 ? hdf5_integer_type() : hdf5_complex_type(dataset.precision);
  std::string messages = array_messages(dataset.shape, type, hdf5_data_offset, bytes_of(dataset));
  for (const auto& [name, value] : dataset.numbers)
    messages += message(Hdf5Message::attribute, hdf5_real_attribute(name, value));
  for (const auto& [name, value] : dataset.texts)
    if (!name.empty() && name.size() < 1024)
      messages += message(Hdf5Message::attribute, hdf5_text_attribute(name, value.substr(0, longest_text)));
  return object_header(messages);
}

std::string root_header(const std::map<std::string, std::uint64_t>& members) {
  constexpr Hdf5Message::Type group_info = Hdf5Message::Type(0x0a);
  std::string messages =
      message(Hdf5Message::link_info, little_endian(0, 2) + empty_index()) + message(group_info, little_endian(0, 2));
  for (const auto& [name, address] : members)
    messages += message(Hdf5Message::link, little_endian(1, 1) + little_endian(0, 1) + little_endian(name.size(), 1) +
                                               name + little_endian(address, 8));
  return object_header(messages);
}

std::string superblock(std::uint64_t file_bytes, std::uint64_t root_address) {
  constexpr std::uint64_t base_address = 0;
  return with_checksum("\x89HDF\r\n\x1a\n" + little_endian(2, 1) + little_endian(8, 1) + little_endian(8, 1) +
                       little_endian(0, 1) + little_endian(base_address, 8) + little_endian(undefined_address, 8) +
                       little_endian(file_bytes, 8) + little_endian(root_address, 8));
}

}  // namespace

void write_hdf5_metadata(const std::string& path, const NewHdf5Dataset& dataset) {
  constexpr std::uint64_t superblock_bytes = 48;
  const std::int64_t header_at = hdf5_data_offset + bytes_of(dataset);
  std::map<std::string, std::uint64_t> members = {{dataset.name, std::uint64_t(header_at)}};
  std::string behind = dataset_header(dataset);  // all that follows the numbers of the dataset
  for (const auto& [name, values] : dataset.lists) {
    behind += std::string((8 - behind.size() % 8) % 8, '\0');
    const std::int64_t values_at = header_at + std::int64_t(behind.size());
    for (const double value : values) behind += little_endian(std::bit_cast<std::uint64_t>(value), 8);
    members[name] = std::uint64_t(header_at) + behind.size();
    behind += object_header(array_messages({std::int64_t(values.size())}, hdf5_real_type(Precision::fp64), values_at,
                                           8 * std::int64_t(values.size())));
  }
  const std::string start =
      superblock(std::uint64_t(header_at) + behind.size(), superblock_bytes) + root_header(members);
  if (start.size() > hdf5_data_offset)
    throw Error(path + ": HDF5", "a dataset name shorter than 255 bytes", dataset.name.size());
  PosixFile file = PosixFile::open_to_write(path);
  file.write_text(0, start + std::string(hdf5_data_offset - start.size(), '\0'));
  file.write_text(header_at, behind);
  file.flush_and_close();
}

}  // namespace staghorn
