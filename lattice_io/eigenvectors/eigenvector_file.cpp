#include "lattice_io/eigenvectors/eigenvector_file.hpp"

#include <cmath>

#include "dirac/fields/plain_algebra.hpp"
#include "halo/watch/error.hpp"
#include "lattice_io/eigenvectors/eigenvector_format.hpp"
#include "lattice_io/eigenvectors/milc_packed.hpp"
#include "lattice_io/files/foreign_files.hpp"
#include "lattice_io/files/output_file.hpp"
#include "lattice_io/hdf5/new_file.hpp"

namespace staghorn {

std::string to_string(EigenvectorFormat format) {
  return format == EigenvectorFormat::hdf5 ? "hdf5" : format == EigenvectorFormat::milc ? "milc" : "milc-packed";
}

EigenvectorFormat eigenvector_format_by_name(const std::string& path) {
  for (const std::string ending : {".scidac", ".lime"}) {
    if (path.ends_with(".packed" + ending)) return EigenvectorFormat::milc_packed;
    if (path.ends_with(ending)) return EigenvectorFormat::milc;
  }
  return EigenvectorFormat::hdf5;
}

void require_writable(const std::string& path, EigenvectorFormat format, Precision precision, const Extents& extents) {
  if (is_milc(format) && precision == Precision::fp16)
    throw Error(path + ": precision of eigenvectors in MILC's form", "fp64 or fp32", "fp16");
  if (format == EigenvectorFormat::milc_packed && !can_be_packed(extents))
    throw Error(path + ": T of a lattice whose eigenvectors are packed", "a multiple of 4", extents[3]);
}

void require_ascending(const std::string& path, const std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]) || values[i] < 0 || (i > 0 && values[i] < values[i - 1]))
      throw FileError(path + ": eigenvalue " + std::to_string(i),
                      "a number that is not negative nor below the one before", values[i]);
}

std::optional<EigenvectorHeader> find_eigenvectors(const Communicator& communicator, const std::string& path) {
  std::optional<EigenvectorHeader> header;
  const Hdf5Catalogue hdf5 = hdf5_eigenvector_catalogue(communicator, path);
  communicator.agree([&] {
    header = find_hdf5_eigenvectors(path, hdf5);
    if (!header && holds_milc_eigenvectors(path)) header = read_milc_eigenvector_header(path);
    if (header) require_ascending(path, header->values);
  });
  return header;
}

EigenvectorHeader read_eigenvector_header(const Communicator& communicator, const std::string& path) {
  std::optional<EigenvectorHeader> header = find_eigenvectors(communicator, path);
  if (!header) {
    const std::string expected = "eigenvectors: HDF5 with a dataset /eigenvectors, or SciDAC as MILC writes them";
    communicator.agree([&] {
      refuse_foreign_content(PosixFile::open_to_read(path), expected);
      require_readable_scidac(path);
    });
    throw FileError(path, expected, "a file of another kind");
  }
  return std::move(*header);
}

void read_each_eigenvector(const Communicator& communicator, const EigenvectorHeader& header, const Lattice& lattice,
                           bool no_verify, const std::function<VectorField&(std::int64_t)>& begin,
                           const std::function<void(std::int64_t)>& end) {
  if (header.extents != lattice.global())
    throw FileError(header.path + ": eigenvectors", "a lattice of " + to_string(lattice.global()),
                    to_string(header.extents));
  (is_milc(header.format) ? read_milc_eigenvectors : read_hdf5_eigenvectors)(communicator, header, lattice, no_verify,
                                                                             begin, end);
}

void write_eigenvectors(const Communicator& communicator, const std::string& path, const Lattice& lattice,
                        const NewEigenvectorFile& described,
                        const std::function<const VectorField&(std::int64_t)>& vector, const Replacing& how) {
  if (described.values.empty()) throw Error(path, "at least one eigenvector to write", 0);
  require_ascending(path, described.values);
  require_writable(path, described.format, described.precision, lattice.global());
  if (how.compress > 0 && described.format != EigenvectorFormat::hdf5)
    throw Error("`compress`", "a file of HDF5", "the format " + to_string(described.format));
  const auto checked = [&](std::int64_t k) -> const VectorField& {
    const VectorField& v = vector(k);
    const double norm = std::sqrt(norm2(communicator, v, Parity::even));
    if (!(std::fabs(norm - 1) <= most_departure_from_norm))
      throw Error(path + ": eigenvector " + std::to_string(k) + " to write", "norm 1 on even sites", norm);
    return v;
  };
  write_whole_file(communicator, path, how, [&](const std::string& temporary) {
    (is_milc(described.format) ? fill_milc_eigenvectors : fill_hdf5_eigenvectors)(communicator, temporary, lattice,
                                                                                  described, checked);
    communicator.agree([&] {
      if (communicator.is_root() && how.compress > 0) compress_hdf5(temporary, how.compress);
    });
  });
}

}  // namespace staghorn
