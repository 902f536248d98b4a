#include "solver/eigen/eigenpair_file.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "dirac/operators/plain_operator.hpp"
#include "halo/watch/activity.hpp"
#include "halo/watch/error.hpp"
#include "lattice_io/files/header_text.hpp"

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
  Replacing how{output.force, output.with};
  how.compress = output.compress;
  write_eigenvectors(communicator, output.path, links.lattice(), file, vector, how);
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

void require_eigenpairs(const EigenvectorHeader& header, const EigenpairCertificate& found, const Eigenpairs& pairs) {
  const Precision precision = pairs.blocks.at(0).precision();
  const double rounding = residual_of_rounding(precision);
  // Rounding a vector changes its Rayleigh quotient in second order, and MILC computes values as precisely as vectors.
  const double of_values =
      is_milc(header.format) ? rounding : eigenvalue_of_rounding(precision) + residual_of_rounding(Precision::fp64);
  const bool stated = !header.residuals.empty();
  for (std::size_t i = 0; i < pairs.count(); ++i) {
    const std::string which = " of eigenpair " + std::to_string(i);
    double bound = stated ? 2 * header.residuals[i] + rounding : most_residual;
    if (is_milc(header.format)) bound = std::min(bound, most_residual);
    if (!(pairs.residuals[i] <= bound))
      throw FileError(header.path + ": |K v - lambda v|" + which + " with these links", bound, pairs.residuals[i]);
    const double digit = header.last_digits.empty() ? 0 : header.last_digits[i];
    const double residual = stated ? header.residuals[i] : pairs.residuals[i];
    if (!(std::fabs(header.values[i] - pairs.values[i]) <= std::min(2 * residual, bound) + of_values + digit))
      throw FileError(header.path + ": eigenvalue" + which + (is_milc(header.format) ? " (<eigVal>)" : ""),
                      shortest_digits(pairs.values[i]) + ", as its vector and these links have it",
                      shortest_digits(header.values[i]));
  }
  if (!(found.orthogonality <= 0.01))
    throw FileError(header.path + ": |V^+ V - 1| of its eigenvectors", "at most 0.01", found.orthogonality);
}

}  // namespace staghorn
