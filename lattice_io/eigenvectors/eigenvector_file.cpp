#include "lattice_io/eigenvectors/eigenvector_file.hpp"

#include <cmath>

#include "halo/watch/error.hpp"
#include "lattice_io/eigenvectors/eigenvector_format.hpp"
#include "lattice_io/files/output_file.hpp"

namespace staghorn {

std::string to_string(EigenvectorFormat format) { return format == EigenvectorFormat::hdf5 ? "hdf5" : "milc"; }

EigenvectorFormat eigenvector_format_by_name(const std::string& path) {
  return path.ends_with(".scidac") || path.ends_with(".lime") ? EigenvectorFormat::milc : EigenvectorFormat::hdf5;
}

void require_ascending(const std::string& path, const std::vector<double>& values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]) || values[i] < 0 || (i > 0 && values[i] < values[i - 1]))
      throw FileError(path + ": eigenvalue " + std::to_string(i),
                      "a number that is not negative nor below the one before", values[i]);
}

std::optional<EigenvectorHeader> find_eigenvectors(const Communicator& communicator, const std::string& path) {
  std::optional<EigenvectorHeader> header;
  communicator.agree([&] {
    if (holds_hdf5_eigenvectors(path))
      header = read_hdf5_eigenvector_header(path);
    else if (holds_milc_eigenvectors(path))
      header = read_milc_eigenvector_header(path);
    if (header) require_ascending(path, header->values);
  });
  return header;
}

EigenvectorHeader read_eigenvector_header(const Communicator& communicator, const std::string& path) {
  std::optional<EigenvectorHeader> header = find_eigenvectors(communicator, path);
  if (!header)
    throw FileError(path, "eigenvectors: HDF5 with a dataset `eigenvectors`, or SciDAC as MILC writes them",
                    "a file of another kind, or none");
  return std::move(*header);
}

void read_each_eigenvector(const Communicator& communicator, const EigenvectorHeader& header, const Lattice& lattice,
                           bool no_verify, const std::function<VectorField&(std::int64_t)>& begin,
                           const std::function<void(std::int64_t)>& end) {
  if (header.extents != lattice.global())
    throw FileError(header.path + ": eigenvectors", "a lattice of " + to_string(lattice.global()),
                    to_string(header.extents));
  (header.format == EigenvectorFormat::milc ? read_milc_eigenvectors : read_hdf5_eigenvectors)(
      communicator, header, lattice, no_verify, begin, end);
}

void write_eigenvectors(const Communicator& communicator, const std::string& path, const Lattice& lattice,
                        const NewEigenvectorFile& described,
                        const std::function<const VectorField&(std::int64_t)>& vector, bool force) {
  if (described.values.empty()) throw Error(path, "at least one eigenvector to write", 0);
  require_ascending(path, described.values);
  if (described.format == EigenvectorFormat::milc && described.precision == Precision::fp16)
    throw Error(path + ": precision of eigenvectors in MILC's form", "fp64 or fp32", "fp16");
  OutputFile output(communicator, path, force);
  output.fill([&](const std::string& temporary) {
    (described.format == EigenvectorFormat::milc ? fill_milc_eigenvectors : fill_hdf5_eigenvectors)(
        communicator, temporary, lattice, described, vector);
  });
}

}  // namespace staghorn
