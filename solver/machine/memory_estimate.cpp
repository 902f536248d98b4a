#include "solver/machine/memory_estimate.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "dirac/operators/operator_memory.hpp"
#include "solver/eigen/deflation.hpp"
#include "solver/eigen/lanczos_search.hpp"
#include "solver/eigen/low_mode_correlator.hpp"
#include "solver/eigen/low_mode_trace.hpp"
#include "solver/krylov/coarse/coarse_space.hpp"
#include "solver/krylov/deflated_solver.hpp"
#include "solver/krylov/shifts/shifted_pass.hpp"
#include "solver/krylov/table/solver_table.hpp"
#include "solver/krylov/tile/tile_solver.hpp"
#include "solver/request/eigen_request.hpp"
#include "solver/request/operator_request.hpp"
#include "solver/request/words/formatted.hpp"

namespace staghorn {

bool MemoryEstimate::on_device(const std::string& object) const {
  return on_gpu &&
         (object == "links" || object == "sloppy_links" || object == "halo" || object == "vectors" ||
          object == "shifted_vectors" || (object == "eigenvectors" && !eigenvectors_on_host) || object == "deflation" ||
          object == "device_certificate" || object == "blocks" || object == "coarse_vectors");
}

double MemoryEstimate::device() const {
  double bytes = 0;
  for (const auto& [object, size] : objects)
    if (on_device(object)) bytes += size;
  return bytes;
}

double MemoryEstimate::host() const {
  const double after_packing = objects.at("certificate_vectors") + (on_gpu ? 0 : objects.at("vectors"));
  return total() - device() + pieces - after_packing + std::max(packing, after_packing);
}

double MemoryEstimate::total() const {
  double bytes = 0;
  for (const auto& [object, size] : objects) bytes += size;
  return bytes;
}

Lattice part_of(const SolveShape& shape) { return part_of(shape, shape.rank); }

Lattice part_of(const SolveShape& shape, int rank) {
  if (shape.widths[0].empty()) return Lattice(shape.lattice, shape.grid, rank, shape.options.loopback);
  return Lattice(shape.widths, rank, shape.options.loopback);
}

MemoryEstimate estimate_memory(const SolveShape& shape) {
  const Lattice lattice = part_of(shape);
  const int cuda_device = shape.on_gpu ? 0 : -1;
  const auto predicted = [&](const SessionOptions& session, int n_rhs) {
    OperatorOptions options = operator_options(session, n_rhs, cuda_device);
    options.unlike_ranks = shape.unlike_ranks;
    return predict_operator_bytes(lattice, options);
  };
  const OperatorBytes fast = predicted(shape.options, shape.n_rhs);
  OperatorBytes sloppy;
  if (shape.options.sloppy) sloppy = predicted(iterated_options(shape.options), shape.n_rhs);
  const bool full = shape.system == System::full;
  const bool certified_there = shape.on_gpu && shape.options.certificate == CertificatePlace::device;
  const QuarkAction& quarks = shape.options.quarks;
  const bool improved = quarks.improved(), stored = quarks.stored() || quarks.in_memory;
  const double sites = double(lattice.local_volume()), field = sites * sizeof(ColorVector<double>);
  const double plain_links = (improved ? 2 : 1) * sites * sizeof(Links);

  MemoryEstimate estimate;
  estimate.on_gpu = shape.on_gpu;
  estimate.objects = {
      {"links", fast.links},
      {"sloppy_links", sloppy.links},
      {"halo", fast.halo + sloppy.halo},
      {"vectors", (full ? 3 : 2) * fast.vector + predicted_solver_bytes(shape.options, fast, sloppy)},
      {"certificate_links", plain_links + (improved && shape.options.keep_thin_links ? sites * sizeof(Links) : 0)},
      {"certificate_vectors", certified_there ? 0 : field},
      {"device_certificate", certified_there ? plain_links + field * (1 + 2 * shape.n_rhs) : 0},
      {"sources_solutions", 2 * field * shape.n_rhs}};
  int columns = shape.n_rhs;
  if (shape.refills) {
    const OperatorBytes one = predicted(shape.options, 1);
    OperatorBytes sloppy_one;
    if (shape.options.sloppy) sloppy_one = predicted(iterated_options(shape.options), 1);
    const bool mixed = shape.options.sloppy.has_value();
    estimate.objects["halo"] += one.halo + sloppy_one.halo;
    estimate.objects["vectors"] = (full ? 3 : 2) * shape.n_rhs * one.vector +
                                  predicted_tile_bytes(mixed ? sloppy : fast, one, mixed ? &sloppy_one : nullptr);
    if (certified_there) estimate.objects["sources_solutions"] = 2 * field;  // on their way
  }
  if (shape.n_masses > 1 && !shape.mass_by_mass) {
    columns = shape.n_columns > 0 ? shape.n_columns : (full ? 2 : 1) * shape.n_rhs;
    const OperatorBytes batch = predicted(shape.options, columns);
    double halo = batch.halo;
    if (shape.shifts_in != ShiftedPrecision::precise && shape.options.sloppy)
      halo += predicted(iterated_options(shape.options), columns).halo;
    estimate.objects["shifted_vectors"] = ShiftedPass::vectors(shape.n_together > 0 ? shape.n_together : shape.n_masses,
                                                               shape.system, shape.eigenpairs > 0) *
                                              batch.vector +
                                          (columns == shape.n_rhs ? 0 : halo);
  }
  if (shape.n_masses > 1) {
    estimate.objects["sources_solutions"] = (1 + shape.n_masses) * field * shape.n_rhs;
    if (certified_there) estimate.objects["device_certificate"] += (shape.n_masses - 1) * field * shape.n_rhs;
  }
  if (shape.eigenpairs > 0) {
    const SolverEntry& solver = solver_for(shape.options);
    if (!solver.can.deflate) estimate.objects["vectors"] += DeflatedSolver::vectors * fast.vector;
    OperatorOptions of_pairs = operator_options(shape.options, 1, cuda_device);
    of_pairs.precision = shape.eigenvector_precision;
    const double vector = predict_operator_bytes(lattice, of_pairs).vector;
    estimate.objects["eigenvectors"] = double(shape.eigenpairs) * vector;
    estimate.objects["deflation"] = Deflation::work_vectors(columns) * vector;
    estimate.eigenvectors_on_host = shape.eigenvectors_on_host;
    if (shape.low_part != LowPart::none) {
      const bool correlators = shape.low_part == LowPart::of_correlators;
      estimate.objects["low_modes"] =
          field * double(correlators ? LowModeCorrelator::fields(shape.eigenpairs) : LowModeTrace::fields);
      if (certified_there) estimate.objects["device_certificate"] += field;
    }
  }
  if (shape.block_vectors > 0) {
    const BlockGrid grid(lattice, shape.block);
    const Stencil stencil = improved ? Stencil::improved : Stencil::naive;
    estimate.objects["blocks"] = CoarseSpace::predicted_bytes(grid, stencil, shape.block_vectors);
    estimate.objects["coarse_vectors"] = CoarseSpace::predicted_work_bytes(grid, shape.block_vectors, shape.n_rhs);
  }
  if (shape.meson_fields > 0) estimate.objects["mesons"] = field * shape.meson_fields;
  estimate.packing = std::max(fast.packing, sloppy.packing);
  // Beside fat and Naik links: of links that are made, thin links and the products of two, or W, and the field of one
  // direction of a staple; of stored ones, the products of two and of three fat links, which are compared with N.
  if (improved) estimate.packing = std::max(estimate.packing, sites * (stored ? 2.1 : 3.25) * double(sizeof(Links)));
  estimate.pieces = fast.pieces + sloppy.pieces;
  return estimate;
}

double SearchMemory::needed() const {
  const auto bytes = [&](const char* object) { return objects.at(object); };
  return bytes("links") + bytes("halo") + std::max(bytes("basis"), bytes("certificate") + bytes("eigenvectors"));
}

SearchMemory estimate_search_memory(const Lattice& lattice, const OperatorOptions& options, bool improved, int pairs) {
  const OperatorBytes bytes = predict_operator_bytes(lattice, options);
  OperatorOptions of_block = options;
  of_block.n_rhs = LanczosSearch::block_size(pairs, 3 * lattice.global_volume() / 2);
  const double sites = double(lattice.local_volume());
  SearchMemory memory;
  memory.vectors = LanczosSearch::most_vectors(pairs, 3 * lattice.global_volume() / 2);
  memory.vector = bytes.vector;
  const double plain = sites * ((improved ? 2 : 1) * double(sizeof(Links)) + 3 * double(sizeof(ColorVector<double>)));
  OperatorOptions of_values = options;
  of_values.precision = Precision::fp64;
  const double values = options.precision == Precision::fp64 ? 0 : predict_operator_bytes(lattice, of_values).links;
  const double block = of_block.n_rhs > 1 ? predict_operator_bytes(lattice, of_block).halo : 0;
  memory.objects = {{"links", bytes.links + values},
                    {"halo", bytes.halo + block},
                    {"basis", memory.vectors * bytes.vector},
                    {"certificate", options.cuda_device >= 0 ? plain : 0},
                    {"eigenvectors", pairs * bytes.vector}};
  return memory;
}

int most_pairs_that_fit(const Lattice& lattice, const OperatorOptions& options, bool improved, double bytes) {
  const auto fits = [&](int pairs) {
    return estimate_search_memory(lattice, options, improved, pairs).needed() <= bytes;
  };
  const std::int64_t dimension = 3 * lattice.global_volume() / 2;
  int fitting = 0, too_many = int(std::min<std::int64_t>(EigenRequest::most_pairs, dimension)) + 1;
  while (too_many - fitting > 1) {
    const int pairs = (fitting + too_many) / 2;
    (fits(pairs) ? fitting : too_many) = pairs;
  }
  return fitting;
}

std::map<std::string, double> summed_over_ranks(const Communicator& communicator,
                                                std::map<std::string, double> objects) {
  std::vector<std::int64_t> bytes;
  for (const auto& [object, of_rank] : objects) bytes.push_back(std::int64_t(of_rank));
  communicator.sum(bytes);
  std::size_t k = 0;
  for (auto& [object, of_all] : objects) of_all = double(bytes[k++]);
  return objects;
}

std::string gigabytes(double bytes) {
  return bytes < 1e8 ? format("%.1f MB", bytes * 1e-6) : format("%.2f GB", bytes * 1e-9);
}

}  // namespace staghorn
