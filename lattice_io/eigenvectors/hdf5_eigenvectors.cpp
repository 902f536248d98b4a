// Staghorn's files of eigenvectors: HDF5, even sites alone, fp64, fp32 or 16 bytes a site.
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "halo/watch/error.hpp"
#include "lattice_io/eigenvectors/eigenvector_format.hpp"
#include "lattice_io/eigenvectors/even_rows.hpp"
#include "lattice_io/files/byte_order.hpp"
#include "lattice_io/files/site_slabs.hpp"
#include "lattice_io/gauge/gauge_format.hpp"
#include "lattice_io/hdf5/catalogue.hpp"
#include "lattice_io/hdf5/new_file.hpp"
#include "lattice_io/hdf5/site_reader.hpp"

namespace staghorn {

namespace {

constexpr const char *vectors_name = "eigenvectors", *values_name = "eigenvalues", *residuals_name = "residuals";
constexpr int fp16_numbers = 8;  // of a site: six integers, and a float in the room of two
constexpr double largest_integer = 32767;

std::int64_t vector_bytes(Precision precision) {
  return precision == Precision::fp16 ? 2 * fp16_numbers : reals_per_eigenvector_site * bytes_per_real(precision);
}

// Six integers in a unit of the site, which is a float: |v| = q unit, where the largest q is 32767. A vector that a
// field of fp16 holds comes back with every bit.
void encode_fp16(const double (&v)[6], std::byte* to) {
  double largest = 0;
  bool finite = true;
  for (const double real : v) {
    largest = std::max(largest, std::fabs(real));
    finite = finite && std::isfinite(real);
  }
  const float unit = finite ? float(largest / largest_integer) : std::numeric_limits<float>::quiet_NaN();
  for (int k = 0; k < 6; ++k) {
    const double q = unit > 0 ? std::nearbyint(v[k] / double(unit)) : 0;
    const double within = std::min(largest_integer, std::max(-largest_integer, q));
    store_word(to + 2 * k, std::uint16_t(std::int16_t(within)), false);
  }
  store_word(to + 12, std::bit_cast<std::uint32_t>(unit), false);
}

void decode_fp16(const std::byte* from, double (&v)[6]) {
  const double unit = std::bit_cast<float>(load_word<std::uint32_t>(from + 12, false));
  for (int k = 0; k < 6; ++k) v[k] = double(std::int16_t(load_word<std::uint16_t>(from + 2 * k, false))) * unit;
}

void encode(const ColorVector<double>& site, Precision precision, std::byte* to) {
  double v[6]{};
  std::memcpy(v, &site, sizeof v);
  precision == Precision::fp16 ? encode_fp16(v, to) : encode_reals(v, 6, precision, false, to);
}

void decode(const std::byte* from, Precision precision, ColorVector<double>& site) {
  double v[6]{};
  precision == Precision::fp16 ? decode_fp16(from, v) : decode_reals(from, 6, precision, false, v);
  std::memcpy(&site, v, sizeof v);
}

std::span<const std::byte> bytes_of(const std::vector<double>& list) { return std::as_bytes(std::span(list)); }

// A list and its CRC, which is an attribute of the vectors.
std::vector<double> read_list(const std::string& path, const std::string& name, const Hdf5Dataset& vectors,
                              const Hdf5Catalogue& file) {
  std::vector<double> list = file.reals(name);
  const auto stored = vectors.attributes.find(name + "_crc32");
  const std::string computed = hexadecimal(crc_of(bytes_of(list)));
  if (stored == vectors.attributes.end() || !same_hexadecimal(stored->second, computed))
    throw FileError(path + ": dataset " + name, "crc32 " + computed,
                    stored == vectors.attributes.end() ? "none stored" : stored->second + " stored");
  return list;
}

}  // namespace

Hdf5Catalogue hdf5_eigenvector_catalogue(const Communicator& communicator, const std::string& path) {
  return read_hdf5_catalogue(communicator, path, {vectors_name, values_name, residuals_name});
}

std::optional<EigenvectorHeader> find_hdf5_eigenvectors(const std::string& path, const Hdf5Catalogue& file) {
  if (!file.contains(vectors_name)) return std::nullopt;
  const Hdf5Dataset& dataset = file.dataset(vectors_name, "", true);
  const std::vector<std::int64_t>& shape = dataset.shape;
  const std::int64_t last = dataset.precision == Precision::fp16 ? fp16_numbers : 3;
  if (shape.size() != 6 || shape.back() != last || shape.front() < 1)
    throw FileError(path + ": shape of dataset eigenvectors", "(n, T, Z, Y, X/2, " + std::to_string(last) + ")",
                    std::to_string(shape.size()) + " dimensions, the last of " +
                        (shape.empty() ? "none" : std::to_string(shape.back())));
  EigenvectorHeader header;
  header.path = path;
  header.extents = {int(2 * shape[4]), int(shape[3]), int(shape[2]), int(shape[1])};
  header.precision = dataset.precision;
  header.fields = dataset.attributes;
  header.hdf5 = std::make_shared<Hdf5Dataset>(dataset);
  header.values = read_list(path, values_name, dataset, file);
  header.residuals = read_list(path, residuals_name, dataset, file);
  for (const std::vector<double>* list : {&header.values, &header.residuals})
    if (std::int64_t(list->size()) != shape.front() && (list == &header.values || !list->empty()))
      throw FileError(path + (list == &header.values ? ": eigenvalues" : ": residuals"),
                      std::to_string(shape.front()) + ", one for each vector", list->size());
  return header;
}

void read_hdf5_eigenvectors(const Communicator& communicator, const EigenvectorHeader& header, const Lattice& lattice,
                            bool no_verify, const BeginVector& begin, const EndVector& end) {
  std::optional<Hdf5SiteReader> reader;
  communicator.agree([&] { reader.emplace(*header.hdf5, int(header.hdf5->shape.size()) - 1); });
  const std::int64_t bytes = vector_bytes(header.precision), half_volume = lattice.global_volume() / 2;
  const auto checksum = scidac_checksum(bytes);
  const SiteSlabs slabs(communicator, lattice, bytes / 2);
  for (std::int64_t k = 0; k < header.count(); ++k) {
    VectorField& field = begin(k);
    slabs.read(
        [&](std::int64_t first_site, std::span<std::byte> rows) {
          const std::int64_t first_vector = first_site / 2 + k * half_volume;
          reader->read(first_vector, rows);
          checksum->add(first_vector, rows);
        },
        [&](std::int64_t first_site, std::span<const std::byte> rows) {
          each_even_site(lattice, first_site, rows, bytes, [&](std::int64_t site, const std::byte* from) {
            decode(from, header.precision, field[site]);
          });
        });
    if (k + 1 == header.count()) {  // before the last vector counts
      const ChecksumResults results = compare_checksums(header.hdf5->attributes, checksum->combine(communicator));
      if (!no_verify) require_verified(header.path + ": dataset eigenvectors", results);
    }
    end(k);
  }
}

void fill_hdf5_eigenvectors(const Communicator& communicator, const std::string& path, const Lattice& lattice,
                            const NewEigenvectorFile& described, const NextVector& vector) {
  const Extents& e = lattice.global();
  const Precision precision = described.precision;
  const std::int64_t bytes = vector_bytes(precision), half_volume = lattice.global_volume() / 2;
  const auto n = std::int64_t(described.values.size());
  std::optional<PosixFile> file;
  std::int64_t offset = 0;
  communicator.agree([&] {
    const std::int64_t last = precision == Precision::fp16 ? fp16_numbers : 3;
    if (communicator.is_root())
      offset = begin_hdf5(path, {{vectors_name, {n, e[3], e[2], e[1], e[0] / 2, last}, precision}}).at(0);
  });
  communicator.broadcast(&offset, sizeof offset);
  communicator.agree([&] { file.emplace(PosixFile::open_to_write(path)); });
  const auto checksum = scidac_checksum(bytes);
  const SiteSlabs slabs(communicator, lattice, bytes / 2);
  for (std::int64_t k = 0; k < n; ++k) {
    const VectorField& field = vector(k);
    slabs.write(
        [&](std::int64_t first_site, std::span<std::byte> rows) {
          each_even_site(lattice, first_site, rows, bytes,
                         [&](std::int64_t site, std::byte* to) { encode(field[site], precision, to); });
        },
        [&](std::int64_t first_site, std::span<std::byte> rows) {
          const std::int64_t first_vector = first_site / 2 + k * half_volume;
          file->write(offset + first_vector * bytes, rows);
          checksum->add(first_vector, rows);
        });
  }
  communicator.agree([&] { file->flush_and_close(); });

  Hdf5Attributes dataset{vectors_name, described.attributes};
  std::vector<Hdf5Table> lists;
  for (const auto& [name, list] : {std::pair(values_name, &described.values), {residuals_name, &described.residuals}}) {
    lists.push_back({name, {std::int64_t(list->size())}, *list, {}, {}});
    dataset.texts[std::string(name) + "_crc32"] = hexadecimal(crc_of(bytes_of(*list)));
  }
  dataset.texts.try_emplace("creator", creator());
  dataset.texts.try_emplace("date", creation_date());
  for (const auto& [key, value] : checksum->combine(communicator)) dataset.texts[key] = value;
  communicator.agree([&] {
    if (communicator.is_root()) finish_hdf5(path, {dataset}, lists);
  });
}

}  // namespace staghorn
