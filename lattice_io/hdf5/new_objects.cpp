#include "lattice_io/hdf5/new_objects.hpp"

#include "halo/watch/error.hpp"
#include "lattice_io/hdf5/new_file.hpp"
#include "lattice_io/hdf5/value_type.hpp"

namespace staghorn {

namespace {

std::string with_checksum(const std::string& bytes) { return bytes + little_endian(lookup3(bytes), 4); }

std::string empty_index() { return little_endian(undefined_address, 8) + little_endian(undefined_address, 8); }

std::string superblock(std::uint64_t file_bytes, std::uint64_t root_address) {
  constexpr std::uint64_t base_address = 0;
  return with_checksum(std::string(hdf5_signature) + little_endian(2, 1) + little_endian(8, 1) + little_endian(8, 1) +
                       little_endian(0, 1) + little_endian(base_address, 8) + little_endian(undefined_address, 8) +
                       little_endian(file_bytes, 8) + little_endian(root_address, 8));
}

}  // namespace

std::string hdf5_message(Hdf5Message::Type type, const std::string& body) {
  return little_endian(std::uint64_t(type), 1) + little_endian(body.size(), 2) + little_endian(0, 1) + body;
}

std::string hdf5_object(const std::string& messages) {
  constexpr std::uint64_t limits_follow = 0x10, four_bytes_of_length = 2;
  return with_checksum("OHDR" + little_endian(2, 1) + little_endian(limits_follow | four_bytes_of_length, 1) +
                       little_endian(1 << 12, 2) + little_endian(0, 2) + little_endian(messages.size(), 4) + messages);
}

std::string hdf5_array_messages(const std::vector<std::int64_t>& shape, const std::string& type, std::int64_t offset,
                                std::int64_t bytes) {
  constexpr Hdf5Message::Type fill_value = Hdf5Message::Type(0x05);
  constexpr std::uint64_t early_space_no_fill = 0x05;
  return hdf5_message(Hdf5Message::dataspace, hdf5_shape(shape)) + hdf5_message(Hdf5Message::datatype, type) +
         hdf5_message(fill_value, little_endian(3, 1) + little_endian(early_space_no_fill, 1)) +
         hdf5_message(Hdf5Message::layout, little_endian(3, 1) + little_endian(1, 1) +
                                               little_endian(std::uint64_t(offset), 8) +
                                               little_endian(std::uint64_t(bytes), 8)) +
         hdf5_message(Hdf5Message::attribute_info, little_endian(0, 2) + empty_index());
}

std::string hdf5_group_messages(const std::map<std::string, std::uint64_t>& members) {
  constexpr Hdf5Message::Type group_info = Hdf5Message::Type(0x0a);
  std::string messages = hdf5_message(Hdf5Message::link_info, little_endian(0, 2) + empty_index()) +
                         hdf5_message(group_info, little_endian(0, 2));
  for (const auto& [name, address] : members)
    messages += hdf5_message(Hdf5Message::link, little_endian(1, 1) + little_endian(0, 1) +
                                                    little_endian(name.size(), 1) + name + little_endian(address, 8));
  return messages;
}

std::string hdf5_start_of_file(const std::string& path, std::uint64_t file_bytes,
                               const std::map<std::string, std::uint64_t>& members) {
  constexpr std::uint64_t superblock_bytes = 48;
  std::string start = superblock(file_bytes, superblock_bytes) + hdf5_object(hdf5_group_messages(members));
  if (start.size() > hdf5_data_offset)
    throw FileError(path + ": HDF5", "names of datasets within " + std::to_string(hdf5_data_offset) + " bytes",
                    start.size());
  return start + std::string(hdf5_data_offset - start.size(), '\0');
}

}  // namespace staghorn
