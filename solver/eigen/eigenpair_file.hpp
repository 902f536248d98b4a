// Eigenpairs to files and back (lattice_io/eigenvectors). All functions are collective.
#pragma once

#include "dirac/kernels/kernel_table.hpp"
#include "dirac/stencil/boundary.hpp"
#include "dirac/stencil/operator_links.hpp"
#include "lattice_io/eigenvectors/eigenvector_file.hpp"
#include "solver/eigen/eigenpair_certificate.hpp"
#include "solver/eigen/eigenpair_identity.hpp"
#include "solver/eigen/eigenpairs.hpp"

namespace staghorn {

struct EigenpairOutput {
  std::string path;
  EigenvectorFormat format = EigenvectorFormat::hdf5;
  Precision storage = Precision::fp64;  // of the vectors in the file; MILC: fp64 or fp32
  bool force = false;                   // replace a file that is there
  FilesTogether* with = nullptr;        // it gets its name together with these
  int compress = 0;                     // Replacing::compress
};

// Throws Error where pairs of `lattice` cannot be written so; ask before a search. Local.
inline void require_writable(const EigenpairOutput& output, const Lattice& lattice) {
  require_writable(output.path, output.format, output.storage, lattice.global());
}

// Writes the pairs, their values and residuals, and what they belong to. Vectors travel one by one. Links and boundary
// are those of the pairs, fp64 and on the host; MILC's unpacked form has odd sites, i D v / sqrt(lambda), for
// which they are needed. The bytes do not depend on the process grid. Throws Error for pairs on odd sites.
void write_eigenpairs(const Communicator& communicator, const EigenpairOutput& output, const Eigenpairs& pairs,
                      const EigenpairIdentity& identity, const OperatorLinks& links, const Boundary& boundary);

// Reads the pairs of a file for these kernels into `space`, which is theirs, or pinned for those of a GPU; in the
// precision of the file. They keep their layout. Their values and residuals are those of the file, residuals maybe
// empty: what is read is not proved yet.
Eigenpairs read_eigenpairs(const Communicator& communicator, const EigenvectorHeader& header, const Lattice& lattice,
                           const KernelTable& kernels, MemorySpace space, bool no_verify);

// The largest residual, absolute, of pairs of a file that says none, and of MILC's, which no checksum covers.
constexpr double most_residual = 0.05;

// Throws Error, naming the pair, where these are no eigenpairs of the operator that they were certified for, or where
// the file states other eigenvalues than its vectors have. `pairs` are those of the file, in its order, with recomputed
// values (Eigenvalues::recomputed). Must hold, each with room for what rounding of the stored numbers leaves:
//   |K v - lambda v| <= 2 stated residual, or most_residual
//   |lambda - stated lambda| <= 2 stated residual, or twice the one found where the file says none
//   |V^+ V - 1| <= 0.01
// Local.
void require_eigenpairs(const EigenvectorHeader& header, const EigenpairCertificate& found, const Eigenpairs& pairs);

}  // namespace staghorn
