#include "solver/eigen/eigenpair_file.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "dirac/operators/plain_operator.hpp"
#include "halo/watch/activity.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

// i D v / sqrt(lambda) on odd sites; zero where lambda is.
void add_odd_sites(const Communicator& communicator, const OperatorLinks& links, const Boundary& boundary,
                   double lambda, VectorField& v) {
  plain_hop(communicator, links, boundary, v, v, Parity::odd);
  const double scale = lambda > 0 ? 1 / std::sqrt(lambda) : 0;
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < v.size(); ++site) {
    const Coordinates x = v.lattice().to_global(v.lattice().site_coordinates(site));
    if (((x[0] + x[1] + x[2] + x[3]) & 1) == 0) continue;
    for (auto& c : v[site].c) c = {-scale * c.im, scale * c.re};
  }
}

}  // namespace

void write_eigenpairs(const Communicator& communicator, const EigenpairOutput& output, const Eigenpairs& pairs,
                      const EigenpairIdentity& identity, const OperatorLinks& links, const Boundary& boundary) {
  const Activity activity("writing eigenvectors");
  if (pairs.parity != Parity::even) throw Error(output.path + ": eigenpairs", "on even sites", "on odd sites");
  NewEigenvectorFile file{output.format, output.storage, pairs.values, pairs.residuals, identity};
  file.attributes["parity"] = "even";
  file.attributes["operator"] = "-D^2, D without a factor 1/2, in CPS phases";
  std::optional<VectorField> v;
  communicator.agree([&] { v.emplace(links.lattice()); });
  const auto vector = [&](std::int64_t k) -> const VectorField& {
    const auto i = std::size_t(k);
    pairs.blocks[i / Eigenpairs::vectors_per_block].unpack_exactly(pairs.parity, int(i % Eigenpairs::vectors_per_block),
                                                                   *v);
    if (output.format == EigenvectorFormat::milc) add_odd_sites(communicator, links, boundary, pairs.values[i], *v);
    return *v;
  };
  write_eigenvectors(communicator, output.path, links.lattice(), file, vector, {output.force, output.with});
}

Eigenpairs read_eigenpairs(const Communicator& communicator, const EigenvectorHeader& header, const Lattice& lattice,
                           const KernelTable& kernels, MemorySpace space, bool no_verify) {
  const Activity activity("reading eigenvectors");
  Eigenpairs pairs;
  pairs.space = space;
  std::optional<VectorField> v;
  constexpr int most = Eigenpairs::vectors_per_block;
  communicator.agree([&] {
    pairs.layout = std::make_shared<const SiteLayout>(kernels.layout(lattice, header.precision));
    if (kernels.space == MemorySpace::cuda) pairs.pieces = std::make_shared<PinnedPieces>();
    for (std::int64_t first = 0; first < header.count(); first += most)
      pairs.blocks.emplace_back(*pairs.layout, header.precision,
                                int(std::min<std::int64_t>(most, header.count() - first)), space, pairs.pieces.get());
    v.emplace(lattice);
  });
  pairs.values = header.values;
  pairs.residuals = header.residuals;
  read_each_eigenvector(
      communicator, header, lattice, no_verify, [&](std::int64_t) -> VectorField& { return *v; },
      [&](std::int64_t k) { pairs.blocks[std::size_t(k / most)].pack(pairs.parity, int(k % most), *v); });
  return pairs;
}

double residual_of_rounding(Precision precision) {
  // |K| is some 20 on configurations of interest, and at most 64 of naive quarks.
  constexpr double norm = 64;
  return norm * (precision == Precision::fp64 ? 0x1p-50 : precision == Precision::fp32 ? 0x1p-22 : 0x1p-14);
}

void require_eigenpairs(const std::string& path, const std::vector<double>& stated, const EigenpairCertificate& found,
                        const Eigenpairs& pairs) {
  const double rounding = residual_of_rounding(pairs.blocks.at(0).precision());
  for (std::size_t i = 0; i < pairs.count(); ++i) {
    const double bound = stated.empty() ? most_residual : 2 * stated[i] + rounding;
    if (!(pairs.residuals[i] <= bound))
      throw FileError(path + ": |K v - lambda v| of eigenpair " + std::to_string(i) + " with these links", bound,
                      pairs.residuals[i]);
  }
  if (!(found.orthogonality <= 0.01))
    throw FileError(path + ": |V^+ V - 1| of its eigenvectors", "at most 0.01", found.orthogonality);
}

}  // namespace staghorn
