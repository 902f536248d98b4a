#include "lattice_io/hdf5/dataset.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "halo/watch/error.hpp"
#include "lattice_io/files/byte_order.hpp"
#include "lattice_io/hdf5/attributes.hpp"
#include "lattice_io/hdf5/value_type.hpp"

namespace staghorn {

namespace {

Hdf5Message& required(std::vector<Hdf5Message>& messages, Hdf5Message::Type type, const std::string& what) {
  for (Hdf5Message& message : messages)
    if (message.type == type && !message.shared) return message;
  const std::string name = type == Hdf5Message::datatype ? "type" : type == Hdf5Message::layout ? "layout" : "shape";
  throw FileError(what, "its " + name + " in its header", "none");
}

void set_type(MetadataBytes& bytes, const std::string& what, bool or_integers, Hdf5Dataset& dataset) {
  const Hdf5Type type = read_hdf5_type(bytes);
  if (or_integers && type.kind == Hdf5Type::Kind::integer && type.bytes == 2 && type.is_signed) {
    dataset.precision = Precision::fp16;
    dataset.big_endian = type.big_endian;
    return;
  }
  if (type.kind != Hdf5Type::Kind::complex)
    throw FileError(what,
                    std::string(or_integers ? "16-bit integers, or " : "") +
                        "complex numbers: a compound {r, i} of 32- or 64-bit reals",
                    "another type");
  dataset.precision = type.bytes == 16 ? Precision::fp64 : Precision::fp32;
  dataset.big_endian = type.big_endian;
}

void set_layout(const Hdf5File& file, std::vector<Hdf5Message>& messages, const std::string& what,
                Hdf5Dataset& dataset) {
  MetadataBytes& bytes = required(messages, Hdf5Message::layout, what).bytes;
  const std::string advice = "; h5repack -l CONTI -f NONE writes a dataset that can be read";
  const auto value_bytes = std::uint64_t(hdf5_value_bytes(dataset.precision));
  const std::uint64_t data_bytes = std::uint64_t(number_of_values(dataset.shape)) * value_bytes;
  const std::uint64_t version = bytes.number(1), layout = bytes.number(1);
  for (const Hdf5Message& message : messages)
    if (message.type == Hdf5Message::external_files)
      throw FileError(what, "numbers in the file", "in other files" + advice);
  if (layout == 1 && (version == 3 || version == 4)) {
    const std::uint64_t address = bytes.address(), stored = bytes.number(8);
    if (address == undefined_address) throw FileError(what, std::to_string(data_bytes) + " bytes of numbers", "none");
    if (stored != data_bytes)
      throw FileError(what + " is damaged", std::to_string(data_bytes) + " bytes of numbers", stored);
    dataset.data_offset = file.offset(address, data_bytes, what);
  } else if (layout == 2 && version == 3) {
    dataset.chunks = read_hdf5_chunks(file, bytes, messages, dataset.shape, value_bytes, what);
  } else {
    throw FileError(what, "numbers in one piece, or in chunks as HDF5 1.8 writes them",
                    "layout " + std::to_string(layout) + " of version " + std::to_string(version) + advice);
  }
}

}  // namespace

Hdf5Dataset describe_hdf5_dataset(const std::string& path, const std::string& name, const std::string& advice,
                                  bool or_integers) {
  const Hdf5File file(path);
  const std::string what = path + ": dataset " + name;
  std::vector<Hdf5Message> messages = file.object(name, advice);
  Hdf5Dataset dataset;
  dataset.path = path;
  dataset.name = name;
  dataset.shape = read_hdf5_shape(required(messages, Hdf5Message::dataspace, what).bytes);
  if (number_of_values(dataset.shape) == 0) throw FileError(what, "numbers", "none: no value, or an extent of 0");
  set_type(required(messages, Hdf5Message::datatype, what).bytes, what, or_integers, dataset);
  set_layout(file, messages, what, dataset);
  dataset.attributes = read_hdf5_attributes(file, messages);
  return dataset;
}

std::vector<double> read_hdf5_reals(const std::string& path, const std::string& name) {
  const Hdf5File file(path);
  const std::string what = path + ": dataset " + name;
  std::vector<Hdf5Message> messages = file.object(name);
  const std::vector<std::int64_t> shape = read_hdf5_shape(required(messages, Hdf5Message::dataspace, what).bytes);
  const Hdf5Type type = read_hdf5_type(required(messages, Hdf5Message::datatype, what).bytes);
  MetadataBytes& bytes = required(messages, Hdf5Message::layout, what).bytes;
  const std::uint64_t version = bytes.number(1), layout = bytes.number(1);
  const bool contiguous = layout == 1 && (version == 3 || version == 4);
  if (shape.size() != 1 || type.kind != Hdf5Type::Kind::real || type.bytes != 8 || !contiguous)
    throw FileError(what, "64-bit reals of one dimension, in one piece", "something else");
  const std::uint64_t address = bytes.address(), stored = bytes.number(8), expected = 8 * std::uint64_t(shape[0]);
  if (stored != expected) throw FileError(what + " is damaged", std::to_string(expected) + " bytes of numbers", stored);
  const std::string numbers = file.file().read_text(file.offset(address, stored, what), std::int64_t(stored));
  std::vector<double> values(numbers.size() / 8);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = std::bit_cast<double>(
        load_word<std::uint64_t>(reinterpret_cast<const std::byte*>(numbers.data()) + 8 * i, type.big_endian));
  return values;
}

Hdf5SiteReader::Hdf5SiteReader(const Hdf5Dataset& dataset, int n_site_dimensions)
    : dataset_(dataset), file_(PosixFile::open_to_read(dataset.path)) {
  for (std::size_t k = std::size_t(n_site_dimensions); k < dataset_.shape.size(); ++k)
    site_values_ *= dataset_.shape[k];
}

void Hdf5SiteReader::read(std::int64_t first_site, std::span<std::byte> sites) const {
  const std::int64_t value_bytes = hdf5_value_bytes(dataset_.precision);
  const std::int64_t first_value = first_site * site_values_;
  if (dataset_.data_offset >= 0)
    file_.read(dataset_.data_offset + first_value * value_bytes, sites);
  else
    chunks_.read(file_, dataset_.chunks, dataset_.shape, first_value, sites);
  if (!dataset_.big_endian) return;
  const auto real_bytes = std::size_t(bytes_per_real(dataset_.precision));
  for (std::size_t at = 0; at < sites.size(); at += real_bytes)
    std::reverse(sites.begin() + std::ptrdiff_t(at), sites.begin() + std::ptrdiff_t(at + real_bytes));
}

}  // namespace staghorn
