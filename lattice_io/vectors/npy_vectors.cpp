// Colour vectors in NumPy's arrays: complex, shape (n_rhs, T, Z, Y, X, 3), of which the first axis may be missing;
// PyQUDA writes staggered fermions so. Nothing in them says whether they are intact, or what they are.
#include <algorithm>
#include <optional>

#include "halo/watch/error.hpp"
#include "lattice_io/files/byte_order.hpp"
#include "lattice_io/files/npy.hpp"
#include "lattice_io/files/site_slabs.hpp"
#include "lattice_io/gauge/gauge_format.hpp"
#include "lattice_io/vectors/vector_format.hpp"

namespace staghorn {

VectorHeader read_npy_vector_header(const std::string& path) {
  const NpyArray array = read_npy_header(PosixFile::open_to_read(path));
  const std::vector<std::int64_t>& shape = array.shape;
  const std::size_t rank = shape.size();
  if ((rank != 5 && rank != 6) || shape.back() != 3)
    throw FileError(path + ": shape of colour vectors in an array of NumPy",
                    "(n_rhs, T, Z, Y, X, 3) or (T, Z, Y, X, 3)", shape_text(shape));
  VectorHeader header;
  header.path = path;
  header.format = VectorFormat::npy;
  for (std::size_t mu = 0; mu < 4; ++mu) header.extents[mu] = int(shape[rank - 2 - mu]);
  header.precision = array.precision;
  header.big_endian = array.big_endian;
  header.n_vectors = rank == 6 ? shape.front() : 1;
  header.fields["shape"] = shape_text(shape);
  require_usable_extents(path, header.extents);
  return header;
}

VectorContents read_npy_vectors(const Communicator& communicator, const VectorHeader& header, const Lattice& lattice) {
  std::optional<PosixFile> file;
  NpyArray array;
  communicator.agree([&] {
    file.emplace(PosixFile::open_to_read(header.path));
    array = read_npy_header(*file);
  });
  const std::int64_t site_bytes = reals_per_vector * bytes_per_real(header.precision);
  const auto computed = scidac_checksum(site_bytes);
  const SiteSlabs slabs(communicator, lattice, site_bytes);
  VectorContents contents;
  for (std::int64_t k = 0; k < header.n_vectors; ++k) {
    VectorField& vector = contents.fields.emplace_back(lattice);
    slabs.read(
        [&](std::int64_t first_site, std::span<std::byte> sites) {
          first_site += k * lattice.global_volume();
          file->read(array.data_offset + first_site * site_bytes, sites);
          computed->add(first_site, sites);
        },
        [&](std::int64_t first_site, std::span<const std::byte> sites) {
          decode_reals(sites.data(), std::int64_t(sites.size()) / bytes_per_real(header.precision), header.precision,
                       header.big_endian, &vector[first_site].c[0].re);
        });
  }
  contents.checks = {{header.path, compare_checksums({}, computed->combine(communicator))}};
  return contents;
}

void write_npy_vectors(const Communicator& communicator, const std::string& path, std::span<const VectorField> fields,
                       const NewVectorFile& described) {
  const Lattice& lattice = fields.front().lattice();
  const Extents& e = lattice.global();
  const std::string text = npy_header({std::int64_t(fields.size()), e[3], e[2], e[1], e[0], 3}, described.precision);
  const std::int64_t site_bytes = reals_per_vector * bytes_per_real(described.precision);
  std::optional<PosixFile> file;
  communicator.agree([&] {
    file.emplace(PosixFile::open_to_write(path));
    if (communicator.is_root()) file->write_text(0, text);
  });
  const SiteSlabs slabs(communicator, lattice, site_bytes);
  for (std::size_t k = 0; k < fields.size(); ++k)
    slabs.write(
        [&](std::int64_t first_site, std::span<std::byte> sites) {
          encode_reals(&fields[k][first_site].c[0].re, std::int64_t(sites.size()) / bytes_per_real(described.precision),
                       described.precision, false, sites.data());
        },
        [&](std::int64_t first_site, std::span<std::byte> sites) {
          first_site += std::int64_t(k) * lattice.global_volume();
          file->write(std::int64_t(text.size()) + first_site * site_bytes, sites);
        });
  communicator.agree([&] { file->flush_and_close(); });
}

}  // namespace staghorn
