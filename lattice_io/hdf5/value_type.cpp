#include "lattice_io/hdf5/value_type.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

enum Class : std::uint64_t { integer = 0, real = 1, text = 3, compound = 6, variable_length = 9 };

// Where sign, exponent and mantissa of an IEEE number lie.
struct IeeeLayout {
  std::uint64_t bits, exponent_at, exponent_bits, mantissa_bits, bias;
};
constexpr IeeeLayout ieee_single{32, 23, 8, 23, 127}, ieee_double{64, 52, 11, 52, 1023};

Hdf5Type read_integer(MetadataBytes& bytes, Hdf5Type type, std::uint64_t flags) {
  const std::uint64_t first_bit = bytes.number(2), bits = bytes.number(2);
  if (type.bytes > 8 || type.bytes == 0 || first_bit != 0 || bits != 8 * type.bytes) return type;
  type.kind = Hdf5Type::Kind::integer;
  type.big_endian = (flags & 1) != 0;
  type.is_signed = (flags & 8) != 0;
  return type;
}

Hdf5Type read_real(MetadataBytes& bytes, Hdf5Type type, std::uint64_t flags) {
  std::array<std::uint64_t, 7> found{};
  const std::array<int, 7> widths = {2, 2, 1, 1, 1, 1, 4};
  for (std::size_t k = 0; k < found.size(); ++k) found[k] = bytes.number(widths[k]);
  for (const IeeeLayout& ieee : {ieee_single, ieee_double}) {
    const std::array<std::uint64_t, 7> expected = {0, ieee.bits,          ieee.exponent_at, ieee.exponent_bits,
                                                   0, ieee.mantissa_bits, ieee.bias};
    const std::uint64_t sign_at = flags >> 8 & 0xff, normalization = flags >> 4 & 3, other_order = flags & 0x40;
    if (8 * type.bytes == ieee.bits && found == expected && sign_at == ieee.bits - 1 && normalization == 2 &&
        other_order == 0) {
      type.kind = Hdf5Type::Kind::real;
      type.big_endian = (flags & 1) != 0;
    }
  }
  return type;
}

Hdf5Type read_any(MetadataBytes& bytes, int depth);

// The real and the imaginary part of a complex number, as h5py and others call them.
constexpr std::array<std::string_view, 2> parts[] = {{"r", "i"}, {"re", "im"}, {"real", "imag"}};

// Two reals of one kind with such names, side by side.
Hdf5Type read_compound(MetadataBytes& bytes, Hdf5Type type, std::uint64_t version, std::uint64_t flags, int depth) {
  const std::uint64_t n_members = flags & 0xffff;
  std::vector<std::pair<std::string, std::uint64_t>> places;
  std::vector<Hdf5Type> members;
  int offset_bytes = 1;
  while (offset_bytes < 4 && type.bytes >> (8 * offset_bytes) != 0) ++offset_bytes;
  for (std::uint64_t k = 0; k < n_members; ++k) {
    const std::uint64_t start = bytes.at();
    const std::string name = bytes.text_up_to_zero();
    if (version < 3) bytes.skip((8 - (bytes.at() - start) % 8) % 8);
    places.push_back({name, bytes.number(version < 3 ? 4 : offset_bytes)});
    bool single = true;
    if (version == 1) {
      single = bytes.number(1) == 0;
      bytes.skip(27);
    }
    members.push_back(read_any(bytes, depth + 1));
    if (!single) members.back().kind = Hdf5Type::Kind::other;
  }
  if (n_members != 2 || members[0].kind != Hdf5Type::Kind::real || members[1].kind != Hdf5Type::Kind::real) return type;
  const std::uint64_t half = members[0].bytes;
  if (members[1].bytes != half || members[1].big_endian != members[0].big_endian || type.bytes != 2 * half ||
      places[0].second != 0 || places[1].second != half ||
      std::none_of(std::begin(parts), std::end(parts),
                   [&](const auto& names) { return places[0].first == names[0] && places[1].first == names[1]; }))
    return type;
  type.kind = Hdf5Type::Kind::complex;
  type.big_endian = members[0].big_endian;
  return type;
}

Hdf5Type read_any(MetadataBytes& bytes, int depth) {
  if (depth > 8) throw FileError(bytes.what() + " is damaged: type of values", "fewer types within types", depth);
  const std::uint64_t first = bytes.number(1), flags = bytes.number(3);
  Hdf5Type type;
  type.bytes = bytes.number(4);
  const std::uint64_t version = first >> 4;
  switch (first & 15) {
    case Class::integer:
      return read_integer(bytes, type, flags);
    case Class::real:
      return read_real(bytes, type, flags);
    case Class::text:
      type.kind = Hdf5Type::Kind::text;
      return type;
    case Class::compound:
      return read_compound(bytes, type, version, flags, depth);
    case Class::variable_length: {
      const Hdf5Type base = read_any(bytes, depth + 1);
      if ((flags & 15) == 1 && type.bytes == 16 && base.bytes == 1) type.kind = Hdf5Type::Kind::variable_text;
      return type;
    }
    default:
      return type;
  }
}

}  // namespace

Hdf5Type read_hdf5_type(MetadataBytes& bytes) { return read_any(bytes, 0); }

std::vector<std::int64_t> read_hdf5_shape(MetadataBytes& bytes) {
  const std::uint64_t version = bytes.require_number(1, "version of the shape", 1, 2);
  const std::uint64_t rank = bytes.require_number(1, "number of dimensions", 0, 32);
  bytes.skip(1);
  if (version == 1)
    bytes.skip(5);
  else if (bytes.require_number(1, "kind of shape", 0, 2) == 2)
    return {0};
  std::vector<std::int64_t> shape;
  std::int64_t product = 1;
  for (std::uint64_t k = 0; k < rank; ++k) {
    const std::uint64_t extent = bytes.number(8);
    if (extent >> 32 != 0 || __builtin_mul_overflow(product, std::int64_t(extent), &product) || product >> 58 != 0)
      throw FileError(bytes.what() + ": extent", "a number below 2^32, with a product below 2^58", extent);
    shape.push_back(std::int64_t(extent));
  }
  return shape;
}

std::int64_t number_of_values(const std::vector<std::int64_t>& shape) {
  std::int64_t product = 1;
  for (const std::int64_t extent : shape) product *= extent;
  return product;
}

std::string hdf5_real_type(Precision precision) {
  const IeeeLayout& ieee = precision == Precision::fp64 ? ieee_double : ieee_single;
  const std::uint64_t flags = 0x20 | (ieee.bits - 1) << 8;
  return little_endian(0x10 | Class::real, 1) + little_endian(flags, 3) + little_endian(ieee.bits / 8, 4) +
         little_endian(0, 2) + little_endian(ieee.bits, 2) + little_endian(ieee.exponent_at, 1) +
         little_endian(ieee.exponent_bits, 1) + little_endian(0, 1) + little_endian(ieee.mantissa_bits, 1) +
         little_endian(ieee.bias, 4);
}

std::string hdf5_complex_type(Precision precision) {
  const std::string real = hdf5_real_type(precision);
  const auto half = std::uint64_t(bytes_per_real(precision));
  return little_endian(0x30 | Class::compound, 1) + little_endian(2, 3) + little_endian(2 * half, 4) +
         std::string("r\0\0", 3) + real + std::string("i\0", 2) + little_endian(half, 1) + real;
}

std::string hdf5_integer_type() {
  constexpr std::uint64_t is_signed = 0x08;
  return little_endian(0x10 | Class::integer, 1) + little_endian(is_signed, 3) + little_endian(2, 4) +
         little_endian(0, 2) + little_endian(16, 2);
}

std::string hdf5_text_type(std::uint64_t n_bytes) {
  constexpr std::uint64_t utf8_ending_with_zero = 0x10;
  return little_endian(0x10 | Class::text, 1) + little_endian(utf8_ending_with_zero, 3) + little_endian(n_bytes, 4);
}

std::string hdf5_variable_text_type() {
  constexpr std::uint64_t variable_length = 9, is_text = 0x01, utf8 = 0x01, bytes_of_reference = 16;
  const std::string byte =  // an integer without sign
      little_endian(0x10 | Class::integer, 1) + little_endian(0, 3) + little_endian(1, 4) + little_endian(0, 2) +
      little_endian(8, 2);
  return little_endian(0x10 | variable_length, 1) + little_endian(is_text, 1) + little_endian(utf8, 1) +
         little_endian(0, 1) + little_endian(bytes_of_reference, 4) + byte;
}

std::string hdf5_shape(const std::vector<std::int64_t>& shape) {
  std::string bytes = little_endian(2, 1) + little_endian(shape.size(), 1) + little_endian(0, 1) +
                      little_endian(shape.empty() ? 0 : 1, 1);
  for (const std::int64_t extent : shape) bytes += little_endian(std::uint64_t(extent), 8);
  return bytes;
}

}  // namespace staghorn
