// Files of low eigenvectors of K = -D^2 on even sites, in Staghorn's HDF5 and in the SciDAC form of MILC.
//
//   HDF5     dataset `/eigenvectors`, even sites alone: complex of shape (n, T, Z, Y, X/2, 3) in fp64 or fp32, or
//   16-bit
//            integers of shape (n, T, Z, Y, X/2, 8), where the last two are the bytes of the site's unit, a float;
//            datasets `/eigenvalues` and `/residuals`, fp64. Even site i of a row has x = 2i or 2i + 1.
//   MILC     SciDAC, one record a vector on all sites, fp32 or fp64, in MILC's phases: on even sites v, of norm 1, on
//            odd sites i D v / sqrt(lambda). The XML of the file says how many, that of a record has its value and
//            residual, which no checksum covers.
//   packed   MILC's packed form: the same, with even sites alone, in half of the bytes (milc_packed.hpp).
//
// The format is found from the content. Vectors are exchanged as VectorFields (fp64, local sites) in CPS phases, one
// after the other, so that no rank holds more than one besides those that the caller keeps.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dirac/algebra/precision.hpp"
#include "dirac/fields/site_field.hpp"
#include "halo/communicator.hpp"
#include "lattice_io/files/checksums.hpp"
#include "lattice_io/files/output_file.hpp"

namespace staghorn {

struct Hdf5Dataset;

enum class EigenvectorFormat { hdf5, milc, milc_packed };
std::string to_string(EigenvectorFormat format);  // "hdf5", "milc", "milc-packed"
constexpr bool is_milc(EigenvectorFormat format) { return format != EigenvectorFormat::hdf5; }
// milc for names that end in .scidac or .lime, milc_packed for .packed.scidac or .packed.lime, hdf5 for others. Local.
EigenvectorFormat eigenvector_format_by_name(const std::string& path);

// What the header says; no vector has been read yet.
struct EigenvectorHeader {
  std::string path;
  EigenvectorFormat format = EigenvectorFormat::hdf5;
  Extents extents{};
  Precision precision = Precision::fp64;  // of the stored numbers
  std::vector<double> values;             // of K, ascending
  std::vector<double> residuals;          // |K v - lambda v| as the writer found them; empty: unknown
  std::vector<double> last_digits;  // MILC: one unit in the last digit of each value's text; no checksum covers it
  // Attributes, or texts of XML records. Staghorn writes what the vectors belong to (solver/eigen/eigenpair_file.hpp).
  std::map<std::string, std::string> fields;
  std::shared_ptr<const Hdf5Dataset> hdf5;  // the vectors there

  std::int64_t count() const { return std::int64_t(values.size()); }
};

// What `path` holds, or nothing if it is no file of eigenvectors. Throws Error where it is one, but damaged.
// Collective.
std::optional<EigenvectorHeader> find_eigenvectors(const Communicator& communicator, const std::string& path);
// The same, but throws Error where the file holds something else. Collective.
EigenvectorHeader read_eigenvector_header(const Communicator& communicator, const std::string& path);

// Reads the vectors one after the other: `begin(k)` says where vector k goes, `end(k)` is called once it is there. Odd
// sites of the fields are left alone. Throws Error where the extents are not those of `lattice`; unless `no_verify`,
// also where a checksum is absent or wrong: with HDF5 after the last vector, with MILC after each. Collective.
void read_each_eigenvector(const Communicator& communicator, const EigenvectorHeader& header, const Lattice& lattice,
                           bool no_verify, const std::function<VectorField&(std::int64_t)>& begin,
                           const std::function<void(std::int64_t)>& end);

// | |v| - 1 | of a vector that is one.
constexpr double most_departure_from_norm = 0.01;

struct NewEigenvectorFile {
  EigenvectorFormat format = EigenvectorFormat::hdf5;
  Precision precision = Precision::fp64;  // of the file; MILC: fp64 or fp32
  std::vector<double> values, residuals;
  std::map<std::string, std::string> attributes;  // of HDF5, or lines of the file's XML
};

// Throws Error where vectors of a lattice of `extents` cannot be written so: 16 bits in MILC's forms, or packed where T
// is no multiple of 4. Local.
void require_writable(const std::string& path, EigenvectorFormat format, Precision precision, const Extents& extents);

// Writes one vector for each value. `vector(k)` is asked for k = 0, 1, ... once each, on every rank; what it returns
// must last until it is asked again. For milc it has its odd sites, too. Temporary name, then rename. The bytes do not
// depend on the process grid. Throws Error where numbers are not finite, vectors are not of norm 1 or values do not
// ascend. Collective.
void write_eigenvectors(const Communicator& communicator, const std::string& path, const Lattice& lattice,
                        const NewEigenvectorFile& described,
                        const std::function<const VectorField&(std::int64_t)>& vector, const Replacing& how);

}  // namespace staghorn
