// Reads eigenpairs into fields of the kernels and writes them once more, on any process grid, for
// ../../io/test_eigenvector_files.py:
//
//   eigenpair_copies IN OUT PRECISION GAUGE GX GY GZ GT
//
// The name OUT says the format.
//
// GAUGE: the configuration that they belong to. Prints |V^+ V - 1| and the largest residual of what was read.
#include <cstdio>
#include <cstdlib>

#include "lattice_io/gauge/gauge_file.hpp"
#include "solver/eigen/eigenpair_file.hpp"

using namespace staghorn;

int main(int argc, char** argv) {
  const MpiSession mpi;
  const Communicator communicator(MPI_COMM_WORLD);
  if (argc != 9) return 2;
  try {
    const EigenvectorHeader header = read_eigenvector_header(communicator, argv[1]);
    const Extents grid{std::atoi(argv[5]), std::atoi(argv[6]), std::atoi(argv[7]), std::atoi(argv[8])};
    const Lattice lattice(header.extents, grid, communicator.rank());
    LinkField links(lattice);
    read_gauge(communicator, read_gauge_header(communicator, argv[4]), links, true);
    const KernelTable& kernels = cpu_kernels();
    Eigenpairs pairs = read_eigenpairs(communicator, header, lattice, kernels, kernels.space, false);
    const VectorAlgebra algebra(communicator, *pairs.layout, kernels);
    const EigenpairCertificate found =
        certify_eigenpairs(communicator, links, {}, algebra, pairs, Eigenvalues::recomputed);
    if (communicator.is_root()) std::printf("%a %a\n", found.orthogonality, found.largest_residual);
    require_eigenpairs(header, found, pairs);
    pairs.values = header.values, pairs.residuals = header.residuals;
    EigenpairOutput output{argv[2], eigenvector_format_by_name(argv[2])};
    output.storage = parse_kernel_precision(argv[3]);
    output.force = true;
    write_eigenpairs(communicator, output, pairs, {{"links_hash", "0"}}, links, {});
  } catch (const std::exception& error) {
    if (communicator.is_root()) std::printf("%s\n", error.what());
    return 1;
  }
  return 0;
}
