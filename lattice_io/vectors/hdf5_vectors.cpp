// Colour vectors in HDF5: a dataset of shape (n_rhs, T, Z, Y, X, 3), of which the first axis may be missing.
#include <optional>

#include "halo/watch/error.hpp"
#include "lattice_io/files/byte_order.hpp"
#include "lattice_io/files/site_slabs.hpp"
#include "lattice_io/gauge/gauge_format.hpp"
#include "lattice_io/hdf5/dataset.hpp"
#include "lattice_io/hdf5/new_file.hpp"
#include "lattice_io/hdf5/object_header.hpp"
#include "lattice_io/vectors/vector_format.hpp"
#include "lattice_io/vectors/vector_stream.hpp"

namespace staghorn {

namespace {

void require_extents(const VectorHeader& header, const Lattice& lattice) {
  if (header.extents != lattice.global())
    throw FileError(header.path + ": dataset " + header.dataset, "a lattice of " + to_string(lattice.global()),
                    to_string(header.extents));
}

// Fills a vector from little-endian sites.
void read_sites(const SiteSlabs& slabs, Precision precision, VectorField& vector, const SiteSlabs::Fetch& fetch) {
  slabs.read(fetch, [&](std::int64_t first_site, std::span<const std::byte> sites) {
    decode_reals(sites.data(), std::int64_t(sites.size()) / bytes_per_real(precision), precision, false,
                 &vector[first_site].c[0].re);
  });
}

// `name`; a file of solutions can be a source, too.
std::string dataset_for(const std::string& path, const std::string& name) {
  if (name != "source") return name;
  const Hdf5File file(path);
  return !file.contains(name) && file.contains("solution") ? "solution" : name;
}

}  // namespace

VectorHeader read_hdf5_vector_header(const std::string& path, const std::string& asked) {
  const std::string name = dataset_for(path, asked);
  const Hdf5Dataset dataset = describe_hdf5_dataset(path, name);
  const std::vector<std::int64_t>& shape = dataset.shape;
  const std::size_t rank = shape.size();
  if ((rank != 5 && rank != 6) || shape.back() != 3 || shape.front() < 1)
    throw FileError(
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

void read_one_vector(const Communicator& communicator, const VectorHeader& header, std::int64_t k,
                     VectorField& vector) {
  const Lattice& lattice = vector.lattice();
  require_extents(header, lattice);
  std::optional<Hdf5SiteReader> reader;
  communicator.agree([&] {
    const Hdf5Dataset dataset = describe_hdf5_dataset(header.path, header.dataset);
    reader.emplace(dataset, int(dataset.shape.size()) - 1);
  });
  read_sites(SiteSlabs(communicator, lattice, reals_per_vector * bytes_per_real(header.precision)), header.precision,
             vector, [&](std::int64_t first_site, std::span<std::byte> sites) {
               reader->read(first_site + k * lattice.global_volume(), sites);
             });
}

ChecksumResults read_each_vector(const Communicator& communicator, const VectorHeader& header, const Lattice& lattice,
                                 const std::function<VectorField&(std::int64_t)>& begin,
                                 const std::function<void(std::int64_t)>& end) {
  require_extents(header, lattice);
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
    read_sites(slabs, header.precision, begin(k), [&](std::int64_t first_site, std::span<std::byte> sites) {
      first_site += k * lattice.global_volume();
      reader->read(first_site, sites);
      checksum->add(first_site, sites);
    });
    if (end) end(k);
  }
  return compare_checksums(dataset.attributes, checksum->combine(communicator));
}

VectorWriter::VectorWriter(const Communicator& communicator, const std::string& path, const Lattice& lattice,
                           std::int64_t n_vectors, const std::string& name, Precision precision,
                           const Communicator* job)
    : communicator_(communicator),
      job_(job ? *job : communicator),
      lattice_(lattice),
      path_(path),
      name_(name),
      n_vectors_(n_vectors),
      precision_(precision),
      site_bytes_(reals_per_vector * bytes_per_real(precision)),
      checksum_(scidac_checksum(site_bytes_)) {
  communicator.agree([&] { file_.emplace(PosixFile::open_to_write(path)); });
}

// Adds the bytes of a vector to the checksum, and stores them.
void VectorWriter::move(std::int64_t k, const VectorField& vector, bool stores) {
  SiteSlabs(communicator_, lattice_, site_bytes_)
      .write(
          [&](std::int64_t first_site, std::span<std::byte> sites) {
            encode_reals(&vector[first_site].c[0].re, std::int64_t(sites.size()) / bytes_per_real(precision_),
                         precision_, false, sites.data());
          },
          [&](std::int64_t first_site, std::span<std::byte> sites) {
            first_site += k * lattice_.global_volume();
            if (stores) file_->write(hdf5_data_offset + first_site * site_bytes_, sites);
            checksum_->add(first_site, sites);
          });
}

void VectorWriter::write(std::int64_t k, const VectorField& vector) { move(k, vector, true); }

void VectorWriter::accept(std::int64_t k, const VectorField& vector) { move(k, vector, false); }

void VectorWriter::read_back(std::int64_t k, VectorField& vector) const {
  read_sites(SiteSlabs(communicator_, lattice_, site_bytes_), precision_, vector,
             [&](std::int64_t first_site, std::span<std::byte> sites) {
               first_site += k * lattice_.global_volume();
               file_->read(hdf5_data_offset + first_site * site_bytes_, sites);
             });
}

void VectorWriter::flush() {
  communicator_.agree([&] {
    file_->flush_and_close();
    file_.emplace(PosixFile::open_to_write(path_));
  });
}

void VectorWriter::finish(std::map<std::string, std::string> attributes) {
  job_.agree([&] { file_->flush_and_close(); });
  const Extents& e = lattice_.global();
  NewHdf5Dataset dataset{name_, {n_vectors_, e[3], e[2], e[1], e[0], 3}, precision_, std::move(attributes), {}};
  dataset.texts.try_emplace("creator", creator());
  dataset.texts.try_emplace("date", creation_date());
  for (const auto& [key, value] : checksum_->combine(job_)) dataset.texts[key] = value;
  job_.agree([&] {
    if (job_.is_root()) write_hdf5_metadata(path_, dataset);
  });
}

void fill_with_vectors(const Communicator& communicator, const std::string& path, const Lattice& lattice,
                       std::int64_t n_vectors, const NewVectorFile& described,
                       const std::function<const VectorField&(std::int64_t)>& vector) {
  VectorWriter writer(communicator, path, lattice, n_vectors, described.name, described.precision);
  for (std::int64_t k = 0; k < n_vectors; ++k) writer.write(k, vector(k));
  writer.finish(described.attributes);
}

}  // namespace staghorn
