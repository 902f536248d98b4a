#include "solver/krylov/coarse/near_null_vectors.hpp"

#include <algorithm>
#include <cmath>

#include "dirac/fields/plain_algebra.hpp"
#include "halo/watch/activity.hpp"
#include "solver/eigen/lanczos_basis.hpp"
#include "solver/krylov/coarse/block_basis.hpp"
#include "solver/krylov/conjugate_gradient.hpp"

namespace staghorn {

namespace {

constexpr int most_columns = 16;
constexpr double mass = 1e-4;  // far below all that is solved for: K itself may have a zero mode

}  // namespace

int near_null_columns(int count) {
  const int batches = (count + most_columns - 1) / most_columns;
  return (count + batches - 1) / batches;
}

Eigenpairs find_near_null_vectors(StaggeredOperator& d, int count, long iterations, std::uint64_t seed,
                                  const ShowProgress& show, const bool* interrupted) {
  const Activity activity("near-null vectors");
  constexpr int per_block = Eigenpairs::vectors_per_block;
  constexpr Parity parity = BlockBasis::parity;
  const int columns = d.options().n_rhs;
  const MemorySpace space = d.options().cuda_device >= 0 ? MemorySpace::cuda : MemorySpace::host;
  Eigenpairs found;
  found.parity = parity;
  found.layout = std::make_shared<const SiteLayout>(d.layout());
  found.pieces = std::make_shared<PinnedPieces>();
  found.space = space;
  std::optional<ConjugateGradient> cg;
  std::optional<ColorVectorField> x, b, start, hopped;
  std::optional<VectorField> plain;
  d.communicator().agree([&] {
    for (int first = 0; first < count; first += per_block)
      found.blocks.emplace_back(*found.layout, d.options().precision, std::min(per_block, count - first), space,
                                found.pieces.get());
    cg.emplace(d);
    for (auto* const vector : {&x, &b, &start, &hopped}) vector->emplace(d.make_vector());
    plain.emplace(d.lattice(), space);
  });
  for (int first = 0; first < count; first += columns) {
    const int n = std::min(columns, count - first);
    CgStop stop;
    stop.max_iterations = iterations;
    stop.stagnation_window = 0;
    stop.interrupted = interrupted;
    stop.target_norm.assign(std::size_t(columns), met_at_once);
    stop.source_norm2.assign(std::size_t(columns), 1.5 * double(d.lattice().global_volume()));
    for (ColorVectorField* const zero : {&*b, &*x, &*start}) zero->set_zero();
    for (int i = 0; i < n; ++i) {
      draw_gaussian(d, *start, parity, seed, std::uint32_t(first + i), i);
      stop.target_norm[std::size_t(i)] = 0;
    }
    // v = v_0 - x with K x = K v_0
    const ParitySystem system = parity_system(d, parity, mass);
    d.hop(*hopped, *start, opposite(parity));
    d.update_residual(*b, *start, *hopped, parity, system.shift, std::vector<double>(std::size_t(columns), -1), {});
    cg->solve(system, *x, *b, stop, show);
    d.combine(1, *start, -1, *x);
    for (int i = 0; i < n; ++i) {
      x->unpack(parity, i, *plain);
      const double norm = std::sqrt(norm2(d.communicator(), *plain, parity));
      found.blocks[std::size_t((first + i) / per_block)].pack(parity, (first + i) % per_block, *plain, 1 / norm);
    }
  }
  return found;
}

}  // namespace staghorn
