// Colour vectors in HDF5: a dataset of shape (n_rhs, T, Z, Y, X, 3), of which the first axis may be missing.
#include <optional>

#include "halo/watch/error.hpp"
#include "lattice_io/files/byte_order.hpp"
#include "lattice_io/files/site_slabs.hpp"
#include "lattice_io/gauge/gauge_format.hpp"
#include "lattice_io/hdf5/dataset.hpp"
#include "lattice_io/hdf5/new_file.hpp"
#include "lattice_io/vectors/vector_format.hpp"
#include "lattice_io/vectors/vector_stream.hpp"

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
  VectorContents contents;
  for (std::int64_t k = 0; k < header.n_vectors; ++k) contents.fields.emplace_back(lattice);
  contents.checks = {{header.path + ": dataset " + header.dataset,
                      read_each_vector(communicator, header, lattice, [&](std::int64_t k) -> VectorField& {
                        return contents.fields[std::size_t(k)];
                      })}};
  return contents;
}

void write_hdf5_vectors(const Communicator& communicator, const std::string& path, std::span<const VectorField> fields,
                        const NewVectorFile& described) {
  fill_with_vectors(communicator, path, fields.front().lattice(), std::int64_t(fields.size()), described,
                    [&](std::int64_t k) -> const VectorField& { return fields[std::size_t(k)]; });
}

VectorHeader read_stream_header(const Communicator& communicator, const std::string& path, const std::string& name) {
  VectorHeader header;
  communicator.agree([&] { header = read_hdf5_vector_header(path, name); });
  return header;
}

ChecksumResults read_each_vector(const Communicator& communicator, const VectorHeader& header, const Lattice& lattice,
                                 const std::function<VectorField&(std::int64_t)>& begin,
                                 const std::function<void(std::int64_t)>& end) {
  if (header.extents != lattice.global())
    throw Error(header.path + ": dataset " + header.dataset, "a lattice of " + to_string(lattice.global()),
                to_string(header.extents));
  Hdf5Dataset dataset;
  std::optional<Hdf5SiteReader> reader;
  communicator.agree([&] {
    dataset = describe_hdf5_dataset(header.path, header.dataset);
    reader.emplace(dataset, int(dataset.shape.size()) - 1);
  });
  const std::int64_t site_bytes = reals_per_vector * bytes_per_real(header.precision);
  const auto checksum = scidac_checksum(site_bytes);
  const SiteSlabs slabs(communicator, lattice, site_bytes);
  for (std::int64_t k = 0; k < header.n_vectors; ++k) {
    VectorField& field = begin(k);
    slabs.read(
        [&](std::int64_t first_site, std::span<std::byte> sites) {
          first_site += k * lattice.global_volume();
          reader->read(first_site, sites);
          checksum->add(first_site, sites);
        },
        [&](std::int64_t first_site, std::span<const std::byte> sites) {
          decode_reals(sites.data(), std::int64_t(sites.size()) / bytes_per_real(header.precision), header.precision,
                       false, &field[first_site].c[0].re);
        });
    if (end) end(k);
  }
  return compare_checksums(dataset.attributes, checksum->combine(communicator));
}

void fill_with_vectors(const Communicator& communicator, const std::string& path, const Lattice& lattice,
                       std::int64_t n_vectors, const NewVectorFile& described,
                       const std::function<const VectorField&(std::int64_t)>& vector) {
  const Extents& e = lattice.global();
  const Precision precision = described.precision;
  const std::int64_t site_bytes = reals_per_vector * bytes_per_real(precision);
  std::optional<PosixFile> file;
  communicator.agree([&] { file.emplace(PosixFile::open_to_write(path)); });
  const auto checksum = scidac_checksum(site_bytes);
  const SiteSlabs slabs(communicator, lattice, site_bytes);
  for (std::int64_t k = 0; k < n_vectors; ++k) {
    const VectorField& field = vector(k);
    slabs.write(
        [&](std::int64_t first_site, std::span<std::byte> sites) {
          encode_reals(&field[first_site].c[0].re, std::int64_t(sites.size()) / bytes_per_real(precision), precision,
                       false, sites.data());
        },
        [&](std::int64_t first_site, std::span<std::byte> sites) {
          first_site += k * lattice.global_volume();
          file->write(hdf5_data_offset + first_site * site_bytes, sites);
          checksum->add(first_site, sites);
        });
  }
  communicator.agree([&] { file->flush_and_close(); });

  NewHdf5Dataset dataset{described.name, {n_vectors, e[3], e[2], e[1], e[0], 3}, precision, described.attributes, {}};
  dataset.texts.try_emplace("creator", creator());
  dataset.texts.try_emplace("date", creation_date());
  for (const auto& [key, value] : checksum->combine(communicator)) dataset.texts[key] = value;
  communicator.agree([&] {
    if (communicator.is_root()) write_hdf5_metadata(path, dataset);
  });
}

}  // namespace staghorn
