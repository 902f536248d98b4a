// Colour vectors in HDF5: a dataset of shape (n_rhs, T, Z, Y, X, 3), of which the first axis may be missing.
#include <filesystem>
#include <optional>

#include "halo/watch/error.hpp"
#include "lattice_io/files/byte_order.hpp"
#include "lattice_io/files/foreign_files.hpp"
#include "lattice_io/files/site_slabs.hpp"
#include "lattice_io/gauge/gauge_format.hpp"
#include "lattice_io/hdf5/catalogue.hpp"
#include "lattice_io/hdf5/new_file.hpp"
#include "lattice_io/hdf5/site_reader.hpp"
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

}  // namespace

VectorHeader read_hdf5_vector_header(const std::string& path, const std::string& asked, const Hdf5Catalogue& file) {
  if (!file.is_hdf5()) throw FileError(path, "an HDF5 file", first_bytes(PosixFile::open_to_read(path)));
  // A file of solutions can be a source, too.
  const bool is_solution = asked == "source" && !file.contains(asked) && file.contains("solution");
  const std::string name = is_solution ? "solution" : asked;
  const Hdf5Dataset& dataset = file.dataset(name);
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
  header.hdf5 = std::make_shared<Hdf5Dataset>(dataset);
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
  const Hdf5Catalogue file = read_hdf5_catalogue(communicator, path, {name, "solution"});
  communicator.agree([&] { header = read_hdf5_vector_header(path, name, file); });
  return header;
}

void read_one_vector(const Communicator& communicator, const VectorHeader& header, std::int64_t k,
                     VectorField& vector) {
  const Lattice& lattice = vector.lattice();
  require_extents(header, lattice);
  std::optional<Hdf5SiteReader> reader;
  communicator.agree([&] { reader.emplace(*header.hdf5, int(header.hdf5->shape.size()) - 1); });
  read_sites(SiteSlabs(communicator, lattice, reals_per_vector * bytes_per_real(header.precision)), header.precision,
             vector, [&](std::int64_t first_site, std::span<std::byte> sites) {
               reader->read(first_site + k * lattice.global_volume(), sites);
             });
}

ChecksumResults read_each_vector(const Communicator& communicator, const VectorHeader& header, const Lattice& lattice,
                                 const std::function<VectorField&(std::int64_t)>& begin,
                                 const std::function<void(std::int64_t)>& end) {
  require_extents(header, lattice);
  std::optional<Hdf5SiteReader> reader;
  communicator.agree([&] { reader.emplace(*header.hdf5, int(header.hdf5->shape.size()) - 1); });
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
  return compare_checksums(header.hdf5->attributes, checksum->combine(communicator));
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

void VectorWriter::begin() {
  if (data_offset_ > 0) return;
  const Extents& e = lattice_.global();
  job_.agree([&] {
    if (job_.is_root())
      data_offset_ = begin_hdf5(path_, {{name_, {n_vectors_, e[3], e[2], e[1], e[0], 3}, precision_}}, true).at(0);
  });
  job_.broadcast(&data_offset_, sizeof data_offset_);
}

void VectorWriter::empty() {
  job_.agree([&] {
    if (job_.is_root()) std::filesystem::resize_file(path_, 0);
  });
  data_offset_ = 0;
}

// Adds the bytes of a vector to the checksum, and stores them.
void VectorWriter::move(std::int64_t k, const VectorField& vector, bool stores) {
  begin();
  SiteSlabs(communicator_, lattice_, site_bytes_)
      .write(
          [&](std::int64_t first_site, std::span<std::byte> sites) {
            encode_reals(&vector[first_site].c[0].re, std::int64_t(sites.size()) / bytes_per_real(precision_),
                         precision_, false, sites.data());
          },
          [&](std::int64_t first_site, std::span<std::byte> sites) {
            first_site += k * lattice_.global_volume();
            if (stores) file_->write(data_offset_ + first_site * site_bytes_, sites);
            checksum_->add(first_site, sites);
          });
}

void VectorWriter::write(std::int64_t k, const VectorField& vector) { move(k, vector, true); }

void VectorWriter::accept(std::int64_t k, const VectorField& vector) { move(k, vector, false); }

void VectorWriter::read_back(std::int64_t k, VectorField& vector) {
  begin();
  read_sites(SiteSlabs(communicator_, lattice_, site_bytes_), precision_, vector,
             [&](std::int64_t first_site, std::span<std::byte> sites) {
               first_site += k * lattice_.global_volume();
               file_->read(data_offset_ + first_site * site_bytes_, sites);
             });
}

void VectorWriter::flush() {
  communicator_.agree([&] {
    file_->flush_and_close();
    file_.emplace(PosixFile::open_to_write(path_));
  });
}

void VectorWriter::finish(std::map<std::string, std::string> attributes, int compress) {
  begin();
  job_.agree([&] { file_->flush_and_close(); });
  Hdf5Attributes dataset{name_, std::move(attributes)};
  dataset.texts.try_emplace("creator", creator());
  dataset.texts.try_emplace("date", creation_date());
  for (const auto& [key, value] : checksum_->combine(job_)) dataset.texts[key] = value;
  job_.agree([&] {
    if (!job_.is_root()) return;
    finish_hdf5(path_, {dataset});
    if (compress > 0) compress_hdf5(path_, compress);
  });
}

void fill_with_vectors(const Communicator& communicator, const std::string& path, const Lattice& lattice,
                       std::int64_t n_vectors, const NewVectorFile& described,
                       const std::function<const VectorField&(std::int64_t)>& vector) {
  VectorWriter writer(communicator, path, lattice, n_vectors, described.name, described.precision);
  for (std::int64_t k = 0; k < n_vectors; ++k) writer.write(k, vector(k));
  writer.finish(described.attributes, described.compress);
}

}  // namespace staghorn
