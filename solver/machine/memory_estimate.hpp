// How much memory a solve or a search for eigenpairs needs, object by object, known before anything is allocated.
#pragma once

#include <map>
#include <string>

#include "dirac/algebra/precision.hpp"
#include "dirac/operators/staggered_operator.hpp"
#include "halo/communicator.hpp"
#include "halo/lattice.hpp"
#include "solver/krylov/shifts/shifted_precision.hpp"
#include "solver/request/solve_request.hpp"

namespace staghorn {

// What decides how much memory a solve takes.
struct SolveShape {
  Extents lattice{};
  Extents grid{1, 1, 1, 1};
  SessionOptions options;  // its precisions, links, boundary, loop-back, transport and blas; not its grid, nor device
  int n_rhs = 1;
  System system = System::full;
  bool on_gpu = false;
  int n_masses = 1;      // several: by multi-shift CG
  int n_together = 0;    // of these masses at a time; 0: all
  bool refills = false;  // n_rhs columns of a tile, in which many sources take turns (krylov/tile)
  int n_columns = 0;  // several masses: right-hand sides of A; 0 where the sources are not known: the most there may be
  std::int64_t eigenpairs = 0;  // that solves deflate with
  Precision eigenvector_precision = Precision::fp64;
  bool eigenvectors_on_host = false;                                   // of a GPU
  int block_vectors = 0;                                               // of the basis of blocks that solves work in
  Extents block{};                                                     // of that basis
  LowPart low_part = LowPart::none;                                    // made exact by these
  int meson_fields = 0;                                                // that mesons keep, on the host
  ShiftedPrecision shifts_in = ShiftedPrecision::precise_then_sloppy;  // several masses; as it is: the most
  bool mass_by_mass = false;  // several masses: each for itself, without multi-shift CG
  SlabWidths widths{};        // of the slabs of `grid`; empty: of equal shares
  int rank = 0;               // whose part it is; of equal shares rank 0 has the largest
  bool unlike_ranks = false;  // OperatorOptions::unlike_ranks
};

// The part of the lattice of shape.rank, and of another rank.
Lattice part_of(const SolveShape& shape);
Lattice part_of(const SolveShape& shape, int rank);

struct MemoryEstimate {
  // Bytes of one rank, by the names of SolveReport::memory_bytes:
  //   links, sloppy_links  as the iterations read them, with copies for neighbours that are not whole blocks
  //   halo                 face and ghost buffers, neighbour tables
  //   vectors              x, b and the other parity's b; r, p, tmp of CG, or what its form has instead: all n_rhs
  //   shifted_vectors      several masses: x and p of each, and what their batch has besides; else absent
  //   eigenvectors         known eigenvectors; else absent
  //   deflation            two vectors of their precision for all n_rhs; else absent
  //   blocks               a basis of blocks with its matrix and eigenpairs; else absent
  //   coarse_vectors       of the work with it; else absent
  //   low_modes            exact low modes: fp64 fields on the host, while they are computed; else absent
  //   mesons               solutions and shifted ones that mesons keep: fp64 fields on the host; else absent
  //   certificate_links    fp64, 18 reals, as read: 576 bytes a site, 1152 with Naik links
  //   certificate_vectors  the fp64 field that the residual is formed in: 48 bytes a site; 0 where a GPU certifies
  //   device_certificate   where a GPU certifies: that field, links, sources and solutions, in its memory
  //   sources_solutions    fp64 source and solution: 96 bytes a site and right-hand side; 48 (1 + masses)
  std::map<std::string, double> objects;
  double packing = 0;  // on the host while links are packed, before there are vectors
  double pieces = 0;   // on the host, pinned, that links and vectors travel to and from a GPU in
  bool on_gpu = false;
  bool eigenvectors_on_host = false;  // though on_gpu

  // Of a GPU: links, sloppy_links, halo, (shifted_)vectors, eigenvectors, deflation, device_certificate,
  // blocks, coarse_vectors.
  bool on_device(const std::string& object) const;
  double device() const;  // bytes on the GPU
  double host() const;    // bytes on the host, at their peak
  double total() const;   // of all objects
};

// Throws Error where grid and lattice do not fit each other. Local.
MemoryEstimate estimate_memory(const SolveShape& shape);

struct SearchMemory {
  // Bytes of one rank, where it computes:
  //   links        as the operator reads them; of a search in fp32 in fp64, too
  //   halo         face and ghost buffers, neighbour tables, for single vectors and for blocks
  //   basis        vectors at the peak: the basis, as many again while it is rotated, and four blocks
  //   certificate  on a GPU: links in fp64 and three plain fields, once the basis is gone; else 0
  //   eigenvectors the pairs, which stay beside the certificate
  std::map<std::string, double> objects;
  int vectors = 0;    // of the basis at the peak
  double vector = 0;  // bytes of one of them

  // At the peak: while the basis is there, or while the pairs are certified.
  double needed() const;
};

// For one rank of `lattice`, with the operator of these options. `improved`: there are Naik links.
SearchMemory estimate_search_memory(const Lattice& lattice, const OperatorOptions& options, bool improved, int pairs);

// The most pairs, up to those that a request may have, whose search fits into `bytes` of one rank; 0 for none.
int most_pairs_that_fit(const Lattice& lattice, const OperatorOptions& options, bool improved, double bytes);

// Each object's bytes on all ranks together. All ranks have the same objects. One message; collective.
std::map<std::string, double> summed_over_ranks(const Communicator& communicator,
                                                std::map<std::string, double> objects);

std::string gigabytes(double bytes);  // "12.3 MB", "45.67 GB"

}  // namespace staghorn
