#include "lattice_io/hdf5/new_group.hpp"

#include <algorithm>

#include "lattice_io/files/posix_file.hpp"
#include "lattice_io/hdf5/attributes.hpp"
#include "lattice_io/hdf5/dataset.hpp"
#include "lattice_io/hdf5/new_file.hpp"
#include "lattice_io/hdf5/new_objects.hpp"
#include "lattice_io/hdf5/value_type.hpp"

namespace staghorn {

namespace {

void pad_to_multiple_of_8(std::string& bytes) { bytes += std::string((8 - bytes.size() % 8) % 8, '\0'); }

// Texts in one heap, at a known address: objects of {number | references | reserved | bytes | data}, from number 1 on.
class Heap {
 public:
  explicit Heap(std::uint64_t address) : address_(address) {}

  // Keeps a text, and returns the message of an attribute that refers to it.
  std::string attribute(const std::string& name, const std::string& text) {
    objects_ += little_endian(std::uint64_t(++number_), 2) + little_endian(1, 2) + little_endian(0, 4) +
                little_endian(text.size(), 8) + text;
    pad_to_multiple_of_8(objects_);
    return hdf5_message(Hdf5Message::attribute, hdf5_variable_text_attribute(name, text.size(), address_, number_));
  }

  std::string attributes(const std::map<std::string, std::string>& texts) {
    std::string messages;
    for (const auto& [name, text] : texts) messages += attribute(name, text);
    return messages;
  }

  // The whole heap; the free object of number 0 fills it up.
  std::string bytes() const {
    constexpr std::size_t header_bytes = 16, least_bytes = 4096;
    const std::size_t size = std::max(least_bytes, header_bytes + objects_.size() + header_bytes);
    const std::size_t free_bytes = size - header_bytes - objects_.size();
    return "GCOL" + little_endian(1, 1) + little_endian(0, 3) + little_endian(size, 8) + objects_ +
           little_endian(0, 8) + little_endian(free_bytes, 8) + std::string(free_bytes - header_bytes, '\0');
  }

 private:
  std::uint64_t address_;
  std::string objects_;
  int number_ = 0;
};

}  // namespace

void write_hdf5_group(const std::string& path, const NewHdf5Group& group) {
  const std::int64_t bytes = number_of_values(group.shape) * hdf5_value_bytes(group.precision);
  const std::int64_t heap_at = hdf5_data_offset + std::int64_t(group.members.size()) * bytes;  // a multiple of 8
  Heap heap{std::uint64_t(heap_at)};

  std::vector<std::string> messages;  // of each dataset
  for (std::size_t k = 0; k < group.members.size(); ++k)
    messages.push_back(hdf5_array_messages(group.shape, hdf5_complex_type(group.precision),
                                           hdf5_data_offset + std::int64_t(k) * bytes, bytes) +
                       heap.attributes(group.members[k].texts));
  const std::string of_group = heap.attributes(group.texts);

  std::string behind = heap.bytes();
  const auto add_object = [&](const std::string& of_object) {
    pad_to_multiple_of_8(behind);
    const std::uint64_t address = std::uint64_t(heap_at) + behind.size();
    behind += hdf5_object(of_object);
    return address;
  };
  std::map<std::string, std::uint64_t> members;
  for (std::size_t k = 0; k < group.members.size(); ++k) members[group.members[k].name] = add_object(messages[k]);
  const std::uint64_t group_at = add_object(hdf5_group_messages(members) + of_group);

  PosixFile file = PosixFile::open_to_write(path);
  file.write_text(0, hdf5_start_of_file(path, std::uint64_t(heap_at) + behind.size(), {{group.name, group_at}}));
  file.write_text(heap_at, behind);
  file.flush_and_close();
}

}  // namespace staghorn
