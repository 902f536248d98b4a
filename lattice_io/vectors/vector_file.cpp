// Colour vectors in HDF5 (written and read) and in SciDAC files (read).
#include "lattice_io/vectors/vector_file.hpp"

#include <optional>

#include "halo/watch/error.hpp"
#include "lattice_io/files/byte_order.hpp"
#include "lattice_io/files/checksums.hpp"
#include "lattice_io/files/lime.hpp"
#include "lattice_io/files/output_file.hpp"
#include "lattice_io/files/scidac.hpp"
#include "lattice_io/files/site_slabs.hpp"
#include "lattice_io/gauge/gauge_format.hpp"
#include "lattice_io/hdf5/dataset.hpp"
#include "lattice_io/hdf5/new_file.hpp"

namespace staghorn {

namespace {

constexpr std::int64_t reals_per_vector = 6;
static_assert(sizeof(ColorVector<double>) == reals_per_vector * sizeof(double));

// Verifies, or notes what could not be verified.
void verify(const std::string& where, const ChecksumResults& results, std::vector<std::string>* unverified) {
  if (!unverified) return require_verified(where, results);
  for (const std::string& text : unverified_checksums(results)) unverified->push_back(where + ": " + text);
}

void require_extents(const std::string& where, const Lattice& lattice, const Extents& found) {
  if (found != lattice.global()) throw Error(where, "a lattice of " + to_string(lattice.global()), to_string(found));
}

// A dataset of shape (n_rhs, T, Z, Y, X, 3) or (T, Z, Y, X, 3), the latter with n_rhs = 1.
struct VectorDataset {
  Hdf5Dataset dataset;
  std::int64_t n_rhs;
};

VectorDataset describe_vectors(const std::string& path, const std::string& name, const Lattice& lattice) {
  Hdf5Dataset dataset = describe_hdf5_dataset(path, name);
  const std::vector<std::int64_t>& shape = dataset.shape;
  const std::size_t rank = shape.size();
  if ((rank != 5 && rank != 6) || shape.back() != 3 || shape.front() < 1)
    throw Error(
        path + ": shape of dataset " + name, "(n_rhs, T, Z, Y, X, 3)",
        std::to_string(rank) + " dimensions, the last of " + (shape.empty() ? "none" : std::to_string(shape.back())));
  const auto extent = [&](std::size_t from_behind) { return int(shape[rank - from_behind]); };
  require_extents(path + ": dataset " + name, lattice, {extent(2), extent(3), extent(4), extent(5)});
  const std::int64_t n_rhs = rank == 6 ? shape.front() : 1;
  return {std::move(dataset), n_rhs};
}

std::vector<VectorField> read_hdf5(const Communicator& communicator, const std::string& path, const std::string& name,
                                   const Lattice& lattice, std::vector<std::string>* unverified) {
  VectorDataset vectors;
  std::optional<Hdf5SiteReader> reader;
  communicator.agree([&] {
    vectors = describe_vectors(path, name, lattice);
    reader.emplace(vectors.dataset, int(vectors.dataset.shape.size()) - 1);
  });
  const Hdf5Dataset& dataset = vectors.dataset;
  const std::int64_t site_bytes = reals_per_vector * bytes_per_real(dataset.precision);
  const auto checksum = scidac_checksum(site_bytes);
  const SiteSlabs slabs(communicator, lattice, site_bytes);
  std::vector<VectorField> fields;
  for (std::int64_t rhs = 0; rhs < vectors.n_rhs; ++rhs) {
    VectorField& field = fields.emplace_back(lattice);
    slabs.read(
        [&](std::int64_t first_site, std::span<std::byte> sites) {
          first_site += rhs * lattice.global_volume();
          reader->read(first_site, sites);
          checksum->add(first_site, sites);
        },
        [&](std::int64_t first_site, std::span<const std::byte> sites) {
          decode_reals(sites.data(), std::int64_t(sites.size()) / bytes_per_real(dataset.precision), dataset.precision,
                       false, &field[first_site].c[0].re);
        });
  }
  verify(path + ": dataset " + name, compare_checksums(dataset.attributes, checksum->combine(communicator)),
         unverified);
  return fields;
}

// Reads every field of the file. A field with several vectors a site (datacount > 1) gives as many.
std::vector<VectorField> read_scidac(const Communicator& communicator, const std::string& path, const Lattice& lattice,
                                     std::vector<std::string>* unverified) {
  ScidacFile scidac;
  std::optional<PosixFile> file;
  communicator.agree([&] {
    file.emplace(PosixFile::open_to_read(path));
    scidac = read_scidac_file(*file);
    require_extents(path, lattice, scidac.extents);
    for (const ScidacField& field : scidac.fields) {
      const std::int64_t vector_bytes = reals_per_vector * bytes_per_real(field.precision);
      if (field.datatype.find("ColorVector") == std::string::npos || field.bytes_per_site % vector_bytes != 0 ||
          field.bytes_per_site == 0 || field.data_bytes != lattice.global_volume() * field.bytes_per_site)
        throw Error(path + ": SciDAC field",
                    "colour vectors (QDP_F3_ColorVector or QDP_D3_ColorVector) of " + std::to_string(vector_bytes) +
                        " bytes on " + to_string(scidac.extents) + " sites",
                    field.datatype + ", " + std::to_string(field.bytes_per_site) + " bytes a site, " +
                        std::to_string(field.data_bytes) + " in all");
    }
  });
  std::vector<VectorField> fields;
  for (const ScidacField& stored : scidac.fields) {
    const std::int64_t vector_bytes = reals_per_vector * bytes_per_real(stored.precision);
    const std::int64_t n_vectors = stored.bytes_per_site / vector_bytes;
    const std::size_t first_field = fields.size();
    for (std::int64_t k = 0; k < n_vectors; ++k) fields.emplace_back(lattice);
    const auto checksum = scidac_checksum(stored.bytes_per_site);
    SiteSlabs(communicator, lattice, stored.bytes_per_site)
        .read(
            [&](std::int64_t first_site, std::span<std::byte> sites) {
              file->read(stored.data_offset + first_site * stored.bytes_per_site, sites);
              checksum->add(first_site, sites);
            },
            [&](std::int64_t site, std::span<const std::byte> sites) {
              const std::byte* from = sites.data();
              for (; from != sites.data() + sites.size(); ++site)
                for (std::int64_t k = 0; k < n_vectors; ++k, from += vector_bytes)
                  decode_reals(from, reals_per_vector, stored.precision, true,
                               &fields[first_field + std::size_t(k)][site].c[0].re);
            });
    verify(path, compare_checksums(stored.checksums, checksum->combine(communicator)), unverified);
  }
  return fields;
}

bool is_lime(const std::string& path) {
  const PosixFile file = PosixFile::open_to_read(path);
  std::byte word[4] = {};
  if (file.size() >= 4) file.read(0, word);
  return load_word<std::uint32_t>(word, true) == lime_magic;
}

}  // namespace

std::vector<VectorField> read_vectors(const Communicator& communicator, const std::string& path,
                                      const std::string& name, const Lattice& lattice,
                                      std::vector<std::string>* unverified) {
  bool lime = false;
  communicator.agree([&] { lime = is_lime(path); });
  return lime ? read_scidac(communicator, path, lattice, unverified)
              : read_hdf5(communicator, path, name, lattice, unverified);
}

void write_vectors(const Communicator& communicator, const std::string& path, const std::string& name,
                   std::span<const VectorField> fields, Precision precision,
                   const std::map<std::string, std::string>& attributes, bool force) {
  if (fields.empty()) throw Error(path, "at least one colour vector to write", 0);
  const Lattice& lattice = fields.front().lattice();
  const Extents& e = lattice.global();
  const std::int64_t site_bytes = reals_per_vector * bytes_per_real(precision);

  OutputFile output(communicator, path, force);
  output.fill([&](const std::string& temporary) {
    std::optional<PosixFile> file;
    communicator.agree([&] { file.emplace(PosixFile::open_to_write(temporary)); });
    const auto checksum = scidac_checksum(site_bytes);
    const SiteSlabs slabs(communicator, lattice, site_bytes);
    for (std::size_t rhs = 0; rhs < fields.size(); ++rhs)
      slabs.write(
          [&](std::int64_t first_site, std::span<std::byte> sites) {
            encode_reals(&fields[rhs][first_site].c[0].re, std::int64_t(sites.size()) / bytes_per_real(precision),
                         precision, false, sites.data());
          },
          [&](std::int64_t first_site, std::span<std::byte> sites) {
            first_site += std::int64_t(rhs) * lattice.global_volume();
            file->write(hdf5_data_offset + first_site * site_bytes, sites);
            checksum->add(first_site, sites);
          });
    communicator.agree([&] { file->flush_and_close(); });

    NewHdf5Dataset dataset{name, {std::int64_t(fields.size()), e[3], e[2], e[1], e[0], 3}, precision, attributes, {}};
    dataset.texts.try_emplace("creator", creator());
    dataset.texts.try_emplace("date", creation_date());
    for (const auto& [key, value] : checksum->combine(communicator)) dataset.texts[key] = value;
    communicator.agree([&] {
      if (communicator.is_root()) write_hdf5_metadata(temporary, dataset);
    });
  });
}

}  // namespace staghorn
