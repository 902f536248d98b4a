#include "lattice_io/hdf5/attributes.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "halo/watch/error.hpp"
#include "lattice_io/content/utf8_text.hpp"
#include "lattice_io/files/checksums.hpp"
#include "lattice_io/files/header_text.hpp"
#include "lattice_io/hdf5/value_type.hpp"

namespace staghorn {

namespace {

constexpr std::uint64_t longest_text = 1 << 16;

std::string up_to_zero(const std::string& text) { return text.substr(0, text.find('\0')); }

// A text of variable length lies in a heap for the whole file: objects of {index | references | reserved | bytes |
// data}.
std::string read_from_heap(const Hdf5File& file, MetadataBytes& reference) {
  const std::uint64_t length = reference.number(4), heap = reference.address(), wanted = reference.number(4);
  const std::string what = file.path() + ": HDF5 heap of texts";
  if (length == 0 || heap == 0) return "";
  MetadataBytes head = file.block(heap, 16, what);
  head.require_text("GCOL");
  head.require_number(1, "version", 1, 1);
  head.skip(3);
  const std::uint64_t heap_bytes = head.require_number(8, "bytes", 16, std::uint64_t{1} << 24);
  MetadataBytes objects = file.block(heap + 16, heap_bytes - 16, what);
  while (objects.left() >= 16) {
    const std::uint64_t index = objects.number(2);
    objects.skip(6);
    const std::uint64_t bytes = objects.number(8);
    if (index == 0) break;  // the rest is free
    if (index == wanted) {
      if (length > bytes || length > longest_text)
        throw FileError(what + " is damaged: text",
                        "at most " + std::to_string(std::min(bytes, longest_text)) + " bytes", length);
      return up_to_zero(objects.text(length));
    }
    objects.skip(bytes);
    objects.skip_to_multiple_of_8();
  }
  throw FileError(what + " is damaged", "object " + std::to_string(wanted), "none");
}

double read_number(MetadataBytes& bytes, const Hdf5Type& type) {
  std::uint64_t word = 0;
  for (std::uint64_t k = 0; k < type.bytes; ++k) {
    const std::uint64_t byte = bytes.number(1);
    word = type.big_endian ? word << 8 | byte : word | byte << (8 * k);
  }
  if (type.kind == Hdf5Type::Kind::real)
    return type.bytes == 8 ? std::bit_cast<double>(word) : double(std::bit_cast<float>(std::uint32_t(word)));
  const int unused = 64 - 8 * int(type.bytes);
  return type.is_signed ? double(std::int64_t(word << unused) >> unused) : double(word);
}

std::optional<std::string> read_value(const Hdf5File& file, MetadataBytes& bytes, const Hdf5Type& type) {
  switch (type.kind) {
    case Hdf5Type::Kind::text:
      return printable(bytes_of(up_to_zero(bytes.text(type.bytes))));
    case Hdf5Type::Kind::variable_text:
      return printable(bytes_of(read_from_heap(file, bytes)));
    case Hdf5Type::Kind::integer:
    case Hdf5Type::Kind::real:
      return shortest_digits(read_number(bytes, type));
    default:
      return std::nullopt;
  }
}

bool is_checksum(const std::string& name) {
  return name == "suma" || name == "sumb" || name == "sum29" || name == "sum31";
}

// Of an integer of 32 bits, with or without sign; others stay as they are, and match nothing.
std::string in_hexadecimal(double value) {
  const bool fits = value >= -0x1p31 && value < 0x1p32;
  return fits ? hexadecimal(std::uint32_t(std::int64_t(value))) : shortest_digits(value);
}

// version | flags | bytes of name, type and shape | name | type | shape | value. Version 1 pads each to 8 bytes.
void read_attribute(const Hdf5File& file, MetadataBytes& bytes, std::map<std::string, std::string>& attributes) {
  const std::uint64_t version = bytes.require_number(1, "version of an attribute", 1, 3);
  const std::uint64_t flags = bytes.number(1);
  const std::uint64_t name_bytes = bytes.number(2), type_bytes = bytes.number(2), shape_bytes = bytes.number(2);
  if (version == 3) bytes.skip(1);
  const auto pad = [&] {
    if (version == 1) bytes.skip_to_multiple_of_8();
  };
  const std::string name = up_to_zero(bytes.text(name_bytes));
  pad();
  MetadataBytes type_message = bytes.part(type_bytes, bytes.what());
  pad();
  MetadataBytes shape_message = bytes.part(shape_bytes, bytes.what());
  pad();
  if (version >= 2 && (flags & 2) != 0) return;  // a shape that lies elsewhere
  if (version >= 2 && (flags & 1) != 0) type_message = file.committed_type(std::move(type_message));
  const Hdf5Type type = read_hdf5_type(type_message);
  if (number_of_values(read_hdf5_shape(shape_message)) != 1) return;
  if (type.kind == Hdf5Type::Kind::integer && is_checksum(name))
    attributes[name] = in_hexadecimal(read_number(bytes, type));
  else if (const auto value = read_value(file, bytes, type))
    attributes[printable(name)] = *value;
}

std::string attribute_message(const std::string& name, const std::string& type, const std::string& value) {
  const std::string shape = hdf5_shape({});
  return little_endian(3, 1) + little_endian(0, 1) + little_endian(name.size() + 1, 2) + little_endian(type.size(), 2) +
         little_endian(shape.size(), 2) + little_endian(1, 1) + name + std::string(1, '\0') + type + shape + value;
}

}  // namespace

std::map<std::string, std::string> read_hdf5_attributes(const Hdf5File& file, std::vector<Hdf5Message>& messages) {
  std::map<std::string, std::string> attributes;
  for (Hdf5Message& message : messages) {
    MetadataBytes& bytes = message.bytes;
    if (message.type == Hdf5Message::attribute && !message.shared) read_attribute(file, bytes, attributes);
    if (message.type == Hdf5Message::attribute_info) {
      bytes.require_number(1, "version of attribute information", 0, 0);
      const std::uint64_t flags = bytes.number(1);
      bytes.skip(flags & 1 ? 2 : 0);
      if (bytes.address() != undefined_address)
        throw FileError(bytes.what(), "at most eight attributes, or those of an older HDF5 (libver='earliest')",
                        "an index of many");
    }
  }
  return attributes;
}

std::string hdf5_text_attribute(const std::string& name, const std::string& value) {
  const std::string text = value + std::string(1, '\0');
  return attribute_message(name, hdf5_text_type(text.size()), text);
}

std::string hdf5_variable_text_attribute(const std::string& name, std::size_t n_bytes, std::uint64_t heap, int number) {
  return attribute_message(
      name, hdf5_variable_text_type(),
      little_endian(n_bytes, 4) + little_endian(heap, 8) + little_endian(std::uint64_t(number), 4));
}

std::string hdf5_real_attribute(const std::string& name, double value) {
  return attribute_message(name, hdf5_real_type(Precision::fp64),
                           little_endian(std::bit_cast<std::uint64_t>(value), 8));
}

}  // namespace staghorn
