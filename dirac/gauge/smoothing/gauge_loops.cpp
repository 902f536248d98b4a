#include "dirac/gauge/smoothing/gauge_loops.hpp"

#include "dirac/algebra/exact_sum.hpp"
#include "dirac/gauge/plaquette_paths.hpp"
#include "dirac/gauge/smoothing/site_slabs.hpp"

namespace staghorn {

namespace {

using Matrix = ColorMatrix<double>;

// product = U_t(x, t) product, for the sites of a slice of fixed t.
STAGHORN_FMA_CLONES
void multiply_slice(const LinkField& links, const Slice& slice, Matrix* product, SiteSlab slab) {
  for (std::int64_t i = slab.begin; i < slab.end; ++i) product[i] = links[slice[i]][3] * product[i];
}

// line = U_mu(x) line(x+mu): one link longer, from x on.
STAGHORN_FMA_CLONES
void lengthen(const LinkField& links, int mu, const NeighbourSites<Matrix>& ahead, MatrixField& line, SiteSlab slab) {
  for (std::int64_t x = slab.begin; x < slab.end; ++x) line[x] = links[x][std::size_t(mu)] * ahead[x];
}

// Re tr [S(x) T(x+r) S(x+t)^dagger T(x)^dagger]
STAGHORN_FMA_CLONES
void trace_loops(const MatrixField& space, const MatrixField& time_ahead, const MatrixField& space_ahead,
                 const MatrixField& time, SiteField<double>& traces, SiteSlab slab) {
  for (std::int64_t x = slab.begin; x < slab.end; ++x)
    traces[x] = real_trace_plaquette(space[x], time_ahead[x], time[x], space_ahead[x]);
}

MatrixField unit_matrices(const Lattice& lattice) {
  MatrixField field(lattice);
  std::fill_n(field.data(), field.size(), identity_matrix<double>());
  return field;
}

MatrixField longer(const Communicator& communicator, const LinkField& links, int mu, const MatrixField& line) {
  const NeighbourSites<Matrix> ahead(communicator, line, mu, +1);
  MatrixField result(line.lattice());
  for_slabs(line.size(), [&](SiteSlab slab) { lengthen(links, mu, ahead, result, slab); });
  return result;
}

}  // namespace

// Each slab of ranks multiplies its links onto the product of the slab ahead. After as many rounds as there are slabs
// the first one has the whole loop, multiplied in the same order on every grid.
std::complex<double> polyakov_loop(const Communicator& communicator, const Lattice& lattice,
                                   const std::function<void(SliceProduct& product)>& multiply) {
  const int slabs = lattice.grid()[3], mine = lattice.grid_coordinates()[3];
  SliceProduct product(std::size_t(Slice(lattice, 3, 0).size()), identity_matrix<double>());
  for (int round = 0; round < slabs; ++round) {
    if (round > 0) product = exchange_face(communicator, lattice, 3, +1, product);
    if (mine == slabs - 1) std::fill(product.begin(), product.end(), identity_matrix<double>());
    multiply(product);
  }
  std::vector<double> re, im;
  for (const Matrix& loop : product) {
    const Complex<double> value = trace(loop);
    re.push_back(mine == 0 ? value.re : 0);
    im.push_back(mine == 0 ? value.im : 0);
  }
  const double count = 3.0 * double(lattice.global_volume() / lattice.global()[3]);
  return {exact_sum(communicator, re) / count, exact_sum(communicator, im) / count};
}

std::complex<double> polyakov_loop(const Communicator& communicator, const LinkField& links) {
  const Lattice& lattice = links.lattice();
  return polyakov_loop(communicator, lattice, [&](SliceProduct& product) {
    for (int t = lattice.local()[3] - 1; t >= 0; --t) {
      const Slice slice(lattice, 3, t);
      for_slabs(slice.size(), [&](SiteSlab slab) { multiply_slice(links, slice, product.data(), slab); });
    }
  });
}

std::vector<double> wilson_loops(const Communicator& communicator, const LinkField& links, int distances, int times) {
  const Lattice& lattice = links.lattice();
  const double count = 9.0 * double(lattice.global_volume());
  std::vector<MatrixField> time_lines{unit_matrices(lattice)};
  for (int t = 1; t <= times; ++t) time_lines.push_back(longer(communicator, links, 3, time_lines.back()));
  std::vector<double> sums(std::size_t(distances * times), 0.0);
  for (int i = 0; i < 3; ++i) {
    MatrixField space = unit_matrices(lattice);
    std::vector<MatrixField> time_ahead = time_lines;  // moved by r in i
    for (int r = 1; r <= distances; ++r) {
      space = longer(communicator, links, i, space);
      MatrixField space_ahead = space;  // moved by t in time
      for (int t = 1; t <= times; ++t) {
        space_ahead = shifted(communicator, space_ahead, 3, +1);
        time_ahead[std::size_t(t)] = shifted(communicator, time_ahead[std::size_t(t)], i, +1);
        SiteField<double> traces(lattice);
        for_slabs(traces.size(), [&](SiteSlab slab) {
          trace_loops(space, time_ahead[std::size_t(t)], space_ahead, time_lines[std::size_t(t)], traces, slab);
        });
        const std::size_t at = std::size_t((r - 1) * times + t - 1);
        sums[at] += exact_sum(communicator, {traces.data(), std::size_t(traces.size())});
      }
    }
  }
  for (double& sum : sums) sum /= count;
  return sums;
}

}  // namespace staghorn
