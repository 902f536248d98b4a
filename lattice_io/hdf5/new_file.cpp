#include "lattice_io/hdf5/new_file.hpp"

#include <algorithm>
#include <bit>

#include "halo/watch/error.hpp"
#include "lattice_io/content/utf8_text.hpp"
#include "lattice_io/files/posix_file.hpp"
#include "lattice_io/hdf5/attributes.hpp"
#include "lattice_io/hdf5/dataset.hpp"
#include "lattice_io/hdf5/new_objects.hpp"
#include "lattice_io/hdf5/object_header.hpp"
#include "lattice_io/hdf5/value_type.hpp"

namespace staghorn {

namespace {

constexpr std::size_t longest_written = 60000;  // a message is shorter than 64 KiB

std::int64_t bytes_of(const NewHdf5Dataset& dataset) {
  return number_of_values(dataset.shape) * hdf5_value_bytes(dataset.precision);
}

std::string text_messages(const std::map<std::string, std::string>& texts) {
  std::string messages;
  for (const auto& [name, value] : texts)
    if (!name.empty() && name.size() < 1024)
      messages += hdf5_message(Hdf5Message::attribute,
                               hdf5_text_attribute(utf8_text(name), reversible_text(value).substr(0, longest_written)));
  return messages;
}

std::string dataset_header(const NewHdf5Dataset& dataset) {
  const std::string type =
      dataset.precision == Precision::fp16 ? hdf5_integer_type() : hdf5_complex_type(dataset.precision);
  std::string messages = hdf5_array_messages(dataset.shape, type, hdf5_data_offset, bytes_of(dataset));
  for (const auto& [name, value] : dataset.numbers)
    messages += hdf5_message(Hdf5Message::attribute, hdf5_real_attribute(name, value));
  return hdf5_object(messages + text_messages(dataset.texts));
}

// What stands behind byte `start` of a file: the numbers and headers of tables, and where each header begins.
struct Tables {
  std::int64_t start;
  std::string bytes{};
  std::map<std::string, std::uint64_t> members{};

  void add(const Hdf5Table& table) {
    std::vector<std::string> words;
    for (const std::string& word : table.words) words.push_back(utf8_text(word));
    std::size_t longest = 1;
    for (const std::string& word : words) longest = std::max(longest, word.size());
    std::string values;
    for (const double value : table.numbers) values += little_endian(std::bit_cast<std::uint64_t>(value), 8);
    for (const std::string& word : words) values += word + std::string(longest - word.size(), '\0');
    bytes += std::string((8 - bytes.size() % 8) % 8, '\0');
    const std::int64_t values_at =
        values.empty() ? std::int64_t(undefined_address) : start + std::int64_t(bytes.size());
    bytes += values;
    members[table.name] = std::uint64_t(start) + bytes.size();
    const std::string type = words.empty() ? hdf5_real_type(Precision::fp64) : hdf5_text_type(longest);
    bytes += hdf5_object(hdf5_array_messages(table.shape, type, values_at, std::int64_t(values.size())) +
                         text_messages(table.texts));
  }
};

}  // namespace

void write_hdf5_metadata(const std::string& path, const NewHdf5Dataset& dataset) {
  Tables behind{hdf5_data_offset + bytes_of(dataset)};
  const std::int64_t header_at = behind.start;
  behind.bytes = dataset_header(dataset);  // all that follows the numbers of the dataset
  behind.members = {{dataset.name, std::uint64_t(header_at)}};
  for (const auto& [name, values] : dataset.lists) behind.add({name, {std::int64_t(values.size())}, values, {}, {}});
  const std::string start = hdf5_start_of_file(path, std::uint64_t(header_at) + behind.bytes.size(), behind.members);
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
  file.write_text(0, hdf5_start_of_file(path, std::uint64_t(all.start) + all.bytes.size(), all.members) + all.bytes);
  file.flush_and_close();
}

}  // namespace staghorn
