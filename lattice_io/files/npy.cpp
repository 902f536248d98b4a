#include "lattice_io/files/npy.hpp"

#include <algorithm>
#include <array>

#include "halo/watch/error.hpp"
#include "lattice_io/files/byte_order.hpp"
#include "lattice_io/files/header_text.hpp"

namespace staghorn {

namespace {

constexpr std::int64_t longest_header = 1 << 16, longest_axis = 1 << 20;
constexpr std::size_t most_dimensions = 16;

// What follows 'key': in the text of the header, up to `end`.
std::string entry(const std::string& where, const std::string& text, const std::string& key, char begin, char end) {
  const auto at = text.find("'" + key + "':");
  const auto first = at == std::string::npos ? at : text.find_first_not_of(' ', at + key.size() + 3);
  const auto last = first == std::string::npos || text[first] != begin ? std::string::npos : text.find(end, first + 1);
  if (last == std::string::npos) throw FileError(where, "an entry '" + key + "'", printable(text.substr(0, 200)));
  return text.substr(first + 1, last - first - 1);
}

void set_type(const std::string& where, const std::string& descr, NpyArray& array) {
  const std::string type = descr.empty() ? "" : descr.substr(1);
  if ((descr[0] != '<' && descr[0] != '>') || (type != "c8" && type != "c16"))
    throw FileError(where + ": type", "complex numbers: '<c16' or '<c8'", "'" + printable(descr) + "'");
  array.big_endian = descr[0] == '>';
  array.precision = type == "c16" ? Precision::fp64 : Precision::fp32;
}

}  // namespace

NpyArray read_npy_header(const PosixFile& file) {
  const std::string where = file.path() + ": NumPy's header";
  std::array<std::byte, 12> start{};
  file.read(0, start);
  const int version = int(start[6]);
  if (version < 1 || version > 3 || start[7] != std::byte{0})
    throw FileError(where + ": version", "1, 2 or 3", version);
  const std::int64_t text_offset = version == 1 ? 10 : 12;
  const std::int64_t text_bytes = version == 1 ? std::int64_t(load_word<std::uint16_t>(start.data() + 8, false))
                                               : std::int64_t(load_word<std::uint32_t>(start.data() + 8, false));
  if (text_bytes > longest_header)
    throw FileError(where, "at most " + std::to_string(longest_header) + " bytes", text_bytes);
  const std::string text = file.read_text(text_offset, text_bytes);

  NpyArray array;
  array.data_offset = text_offset + text_bytes;
  set_type(where, entry(where, text, "descr", '\'', '\''), array);
  if (text.find("'fortran_order': False") == std::string::npos)
    throw FileError(where + ": fortran_order", "False (numpy.ascontiguousarray makes it so)", "something else");
  std::string shape = entry(where, text, "shape", '(', ')');
  std::int64_t bytes = 2 * bytes_per_real(array.precision);
  const std::int64_t available = file.size() - array.data_offset;
  while (shape.find_first_not_of(' ') != std::string::npos) {
    const auto comma = std::min(shape.find(','), shape.size());
    array.shape.push_back(whole_number(where + ": shape", shape.substr(0, comma), 1, longest_axis));
    bytes *= array.shape.back();
    if (array.shape.size() > most_dimensions || bytes > available)
      throw FileError(
          file.path() + " is truncated or its header damaged: shape (" + printable(shape.substr(0, 60)) + ")",
          "at least " + std::to_string(bytes) + " bytes of numbers", available);
    shape.erase(0, comma + 1);
  }
  if (bytes != available)
    throw FileError(file.path() + ": " + shape_text(array.shape) + " complex numbers, " + to_string(array.precision),
                    std::to_string(bytes) + " bytes", available);
  return array;
}

std::string npy_header(const std::vector<std::int64_t>& shape, Precision precision) {
  constexpr std::size_t alignment = 64, prefix = 10;
  std::string text = std::string("{'descr': '<c") + (precision == Precision::fp64 ? "16" : "8") +
                     "', 'fortran_order': False, 'shape': " + shape_text(shape) + ", }";
  text.append((alignment - (prefix + text.size() + 1) % alignment) % alignment, ' ');
  text += '\n';
  std::array<std::byte, 2> length{};
  store_word(length.data(), std::uint16_t(text.size()), false);
  return npy_magic + '\1' + '\0' + std::string(reinterpret_cast<const char*>(length.data()), length.size()) + text;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "(";
  for (const std::int64_t extent : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace staghorn
