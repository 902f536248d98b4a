// Colour vectors in SciDAC files: QDP_F3_ColorVector or QDP_D3_ColorVector, big-endian, `datacount` vectors a site.
#include <optional>

#include "halo/watch/error.hpp"
#include "lattice_io/content/xml_text.hpp"
#include "lattice_io/files/byte_order.hpp"
#include "lattice_io/files/scidac.hpp"
#include "lattice_io/files/site_slabs.hpp"
#include "lattice_io/gauge/gauge_format.hpp"
#include "lattice_io/vectors/vector_format.hpp"

namespace staghorn {

namespace {

std::int64_t vector_bytes_of(const ScidacField& field) { return reals_per_vector * bytes_per_real(field.precision); }

void require_vectors(const std::string& path, const ScidacFile& scidac, const ScidacField& field) {
  const std::int64_t vector_bytes = vector_bytes_of(field);
  if (field.datatype.find("ColorVector") == std::string::npos || field.bytes_per_site % vector_bytes != 0 ||
      field.bytes_per_site == 0 || field.data_bytes != volume(scidac.extents) * field.bytes_per_site)
    throw FileError(path + ": SciDAC field",
                    "colour vectors (QDP_F3_ColorVector or QDP_D3_ColorVector) of " + std::to_string(vector_bytes) +
                        " bytes on " + to_string(scidac.extents) + " sites",
                    field.datatype + ", " + std::to_string(field.bytes_per_site) + " bytes a site, " +
                        std::to_string(field.data_bytes) + " in all");
}

// The text of one record: a line for each attribute.
std::string description(const NewVectorFile& file) {
  std::string lines;
  for (const auto& [name, value] : file.attributes) lines += name + " " + value + "\n";
  return xml_start + xml_tagged("title", "color vector field: " + file.name) +
         xml_tagged("info", "\n" + xml_escaped(lines));
}

// Numbers of a slab: `n` vectors a site, from or to the fields.
template <class Sites, class Move>
void each_vector(Sites sites, std::int64_t site, std::int64_t vector_bytes, std::size_t n, const Move& move) {
  auto* at = sites.data();
  for (; at != sites.data() + sites.size(); ++site)
    for (std::size_t k = 0; k < n; ++k, at += vector_bytes) move(at, site, k);
}

}  // namespace

// A file may have several fields, and each of them several vectors a site.
VectorHeader read_scidac_vector_header(const std::string& path) {
  const ScidacFile scidac = read_scidac_file(PosixFile::open_to_read(path));
  VectorHeader header;
  header.path = path;
  header.format = VectorFormat::scidac;
  header.extents = scidac.extents;
  header.precision = scidac.fields.front().precision;
  header.big_endian = true;
  header.fields = scidac.texts;
  header.fields["datatype"] = scidac.fields.front().datatype;
  if (scidac.n_sources > 0) header.fields["sources left out"] = std::to_string(scidac.n_sources);
  for (const ScidacField& field : scidac.fields) {
    require_vectors(path, scidac, field);
    header.n_vectors += field.bytes_per_site / vector_bytes_of(field);
  }
  return header;
}

VectorContents read_scidac_vectors(const Communicator& communicator, const VectorHeader& header,
                                   const Lattice& lattice) {
  ScidacFile scidac;
  std::optional<PosixFile> file;
  communicator.agree([&] {
    file.emplace(PosixFile::open_to_read(header.path));
    scidac = read_scidac_file(*file);
  });
  VectorContents contents;
  std::vector<VectorField>& fields = contents.fields;
  for (const ScidacField& stored : scidac.fields) {
    const std::int64_t vector_bytes = vector_bytes_of(stored);
    const auto n_vectors = std::size_t(stored.bytes_per_site / vector_bytes);
    const std::size_t first_field = fields.size();
    for (std::size_t k = 0; k < n_vectors; ++k) fields.emplace_back(lattice);
    const ChecksumResults results = read_scidac_sites(
        communicator, lattice, *file, stored, [&](std::int64_t first_site, std::span<const std::byte> sites) {
          each_vector(
              sites, first_site, vector_bytes, n_vectors, [&](const std::byte* from, std::int64_t site, std::size_t k) {
                decode_reals(from, reals_per_vector, stored.precision, true, &fields[first_field + k][site].c[0].re);
              });
        });
    contents.checks.emplace_back(header.path, results);
  }
  return contents;
}

void write_scidac_vectors(const Communicator& communicator, const std::string& path,
                          std::span<const VectorField> fields, const NewVectorFile& described) {
  const Lattice& lattice = fields.front().lattice();
  const Precision precision = described.precision;
  const std::int64_t vector_bytes = reals_per_vector * bytes_per_real(precision);
  NewScidacFile scidac{lattice.global(), qdp_datatype("ColorVector", precision), precision, vector_bytes};
  scidac.datacount = std::int64_t(fields.size());
  scidac.date = creation_date();
  scidac.file_xml = xml_start + xml_tagged("title", "color vector field written by " + creator());
  scidac.record_xml = description(described);
  const std::string beginning = begin_scidac_file(scidac);
  const auto data_offset = std::int64_t(beginning.size());
  const std::int64_t site_bytes = vector_bytes * scidac.datacount;

  std::optional<PosixFile> file;
  communicator.agree([&] {
    file.emplace(PosixFile::open_to_write(path));
    if (communicator.is_root()) file->write_text(0, beginning);
  });
  const auto checksum = scidac_checksum(site_bytes);
  SiteSlabs(communicator, lattice, site_bytes)
      .write(
          [&](std::int64_t first_site, std::span<std::byte> sites) {
            each_vector(sites, first_site, vector_bytes, fields.size(),
                        [&](std::byte* to, std::int64_t site, std::size_t k) {
                          encode_reals(&fields[k][site].c[0].re, reals_per_vector, precision, true, to);
                        });
          },
          [&](std::int64_t first_site, std::span<std::byte> sites) {
            file->write(data_offset + first_site * site_bytes, sites);
            checksum->add(first_site, sites);
          });
  const auto checksums = checksum->combine(communicator);
  communicator.agree([&] {
    if (communicator.is_root())
      file->write_text(data_offset + scidac.data_bytes(), end_scidac_field(scidac, checksums));
    file->flush_and_close();
  });
}

}  // namespace staghorn
