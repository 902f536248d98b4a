#include "lattice_io/hdf5/new_file.hpp"

#include <algorithm>
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

std::string text_messages(const std::map<std::string, std::string>& texts) {
  std::string messages;
  for (const auto& [name, value] : texts)
    if (!name.empty() && name.size() < 1024)
      messages += message(Hdf5Message::attribute, hdf5_text_attribute(name, value.substr(0, longest_text)));
  return messages;
}

std::string dataset_header(const NewHdf5Dataset& dataset) {
  const std::string type =
      dataset.precision == Precision::fp16 ? hdf5_integer_type() : hdf5_complex_type(dataset.precision);
  std::string messages = array_messages(dataset.shape, type, hdf5_data_offset, bytes_of(dataset));
  for (const auto& [name, value] : dataset.numbers)
    messages += message(Hdf5Message::attribute, hdf5_real_attribute(name, value));
  return object_header(messages + text_messages(dataset.texts));
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

// What stands behind byte `start` of a file: the numbers and headers of tables, and where each header begins.
struct Tables {
  std::int64_t start;
  std::string bytes{};
  std::map<std::string, std::uint64_t> members{};

  void add(const Hdf5Table& table) {
    std::size_t longest = 1;
    for (const std::string& word : table.words) longest = std::max(longest, word.size());
    std::string values;
    for (const double value : table.numbers) values += little_endian(std::bit_cast<std::uint64_t>(value), 8);
    for (const std::string& word : table.words) values += word + std::string(longest - word.size(), '\0');
    bytes += std::string((8 - bytes.size() % 8) % 8, '\0');
    const std::int64_t values_at =
        values.empty() ? std::int64_t(undefined_address) : start + std::int64_t(bytes.size());
    bytes += values;
    members[table.name] = std::uint64_t(start) + bytes.size();
    const std::string type = table.words.empty() ? hdf5_real_type(Precision::fp64) : hdf5_text_type(longest);
    bytes += object_header(array_messages(table.shape, type, values_at, std::int64_t(values.size())) +
                           text_messages(table.texts));
  }
};

// Superblock and root group, up to hdf5_data_offset.
std::string start_of_file(const std::string& path, std::uint64_t file_bytes,
                          const std::map<std::string, std::uint64_t>& members) {
  constexpr std::uint64_t superblock_bytes = 48;
  std::string start = superblock(file_bytes, superblock_bytes) + root_header(members);
  if (start.size() > hdf5_data_offset)
    throw Error(path + ": HDF5", "names of datasets within " + std::to_string(hdf5_data_offset) + " bytes",
                start.size());
  return start + std::string(hdf5_data_offset - start.size(), '\0');
}

}  // namespace

void write_hdf5_metadata(const std::string& path, const NewHdf5Dataset& dataset) {
  Tables behind{hdf5_data_offset + bytes_of(dataset)};
  const std::int64_t header_at = behind.start;
  behind.bytes = dataset_header(dataset);  // all that follows the numbers of the dataset
  behind.members = {{dataset.name, std::uint64_t(header_at)}};
  for (const auto& [name, values] : dataset.lists) behind.add({name, {std::int64_t(values.size())}, values, {}, {}});
  const std::string start = start_of_file(path, std::uint64_t(header_at) + behind.bytes.size(), behind.members);
  PosixFile file = PosixFile::open_to_write(path);
  file.write_text(0, start);
  file.write_text(header_at, behind.bytes);
  file.flush_and_close();
}

void write_hdf5_tables(const std::string& path, const std::vector<Hdf5Table>& tables) {
  Tables all{hdf5_data_offset};
  for (const Hdf5Table& table : tables) {
    if (number_of_values(table.shape) != std::int64_t(table.numbers.size() + table.words.size()))
      throw Error(path + ": HDF5 table " + table.name, number_of_values(table.shape),
                  table.numbers.size() + table.words.size());
    all.add(table);
  }
  PosixFile file = PosixFile::open_to_write(path);
  file.write_text(0, start_of_file(path, std::uint64_t(all.start) + all.bytes.size(), all.members) + all.bytes);
  file.flush_and_close();
}

}  // namespace staghorn
