// Colour vectors in HDF5: a dataset of shape (n_rhs, T, Z, Y, X, 3), of which the first axis may be missing.
#include <optional>

#include "halo/watch/error.hpp"
#include "lattice_io/files/byte_order.hpp"
#include "lattice_io/files/site_slabs.hpp"
#include "lattice_io/gauge/gauge_format.hpp"
#include "lattice_io/hdf5/dataset.hpp"
#include "lattice_io/hdf5/new_file.hpp"
#include "lattice_io/vectors/vector_format.hpp"

namespace staghorn {

VectorHeader read_hdf5_vector_header(const std::string& path, const std::string& name) {
  const Hdf5Dataset dataset = describe_hdf5_dataset(path, name);
  const std::vector<std::int64_t>& shape = dataset.shape;
  const std::size_t rank = shape.size();
  if ((rank != 5 && rank != 6) || shape.back() != 3 || shape.front() < 1)
    throw Error(
        path + ": shape of dataset " + name, "(n_rhs, T, Z, Y, X, 3)",
        std::to_string(rank) + " dimensions, the last of " + (shape.empty() ? "none" : std::to_string(shape.back())));
  VectorHeader header;
  header.path = path;
  header.dataset = name;
  for (std::size_t mu = 0; mu < 4; ++mu) header.extents[mu] = int(shape[rank - 2 - mu]);
  header.precision = dataset.precision;
  header.big_endian = dataset.big_endian;
  header.n_vectors = rank == 6 ? shape.front() : 1;
  header.fields = dataset.attributes;
  return header;
}

VectorContents read_hdf5_vectors(const Communicator& communicator, const VectorHeader& header, const Lattice& lattice) {
  Hdf5Dataset dataset;
  std::optional<Hdf5SiteReader> reader;
  communicator.agree([&] {
    dataset = describe_hdf5_dataset(header.path, header.dataset);
    reader.emplace(dataset, int(dataset.shape.size()) - 1);
  });
  const std::int64_t site_bytes = reals_per_vector * bytes_per_real(header.precision);
  const auto checksum = scidac_checksum(site_bytes);
  const SiteSlabs slabs(communicator, lattice, site_bytes);
  VectorContents contents;
  for (std::int64_t rhs = 0; rhs < header.n_vectors; ++rhs) {
    VectorField& field = contents.fields.emplace_back(lattice);
    slabs.read(
        [&](std::int64_t first_site, std::span<std::byte> sites) {
          first_site += rhs * lattice.global_volume();
          reader->read(first_site, sites);
          checksum->add(first_site, sites);
        },
        [&](std::int64_t first_site, std::span<const std::byte> sites) {
          decode_reals(sites.data(), std::int64_t(sites.size()) / bytes_per_real(header.precision), header.precision,
                       false, &field[first_site].c[0].re);
        });
  }
  contents.checks = {{header.path + ": dataset " + header.dataset,
                      compare_checksums(dataset.attributes, checksum->combine(communicator))}};
  return contents;
}

void write_hdf5_vectors(const Communicator& communicator, const std::string& path, std::span<const VectorField> fields,
                        const NewVectorFile& described) {
  const Lattice& lattice = fields.front().lattice();
  const Extents& e = lattice.global();
  const Precision precision = described.precision;
  const std::int64_t site_bytes = reals_per_vector * bytes_per_real(precision);
  std::optional<PosixFile> file;
  communicator.agree([&] { file.emplace(PosixFile::open_to_write(path)); });
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

  NewHdf5Dataset dataset{
      described.name, {std::int64_t(fields.size()), e[3], e[2], e[1], e[0], 3}, precision, described.attributes, {}};
  dataset.texts.try_emplace("creator", creator());
  dataset.texts.try_emplace("date", creation_date());
  for (const auto& [key, value] : checksum->combine(communicator)) dataset.texts[key] = value;
  communicator.agree([&] {
    if (communicator.is_root()) write_hdf5_metadata(path, dataset);
  });
}

}  // namespace staghorn
