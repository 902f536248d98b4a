#include "solver/session/low_modes/coarse_basis.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "dirac/operators/operator_memory.hpp"
#include "halo/available_memory.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/stopwatch.hpp"
#include "solver/krylov/coarse/near_null_vectors.hpp"
#include "solver/krylov/table/solver_table.hpp"
#include "solver/machine/memory_estimate.hpp"
#include "solver/request/operator_request.hpp"
#include "solver/request/option_text.hpp"

namespace staghorn {

namespace {

constexpr int per_block = Eigenpairs::vectors_per_block;

MemorySpace space_of(const Context& context) {
  return context.cuda_device() >= 0 ? MemorySpace::cuda : MemorySpace::host;
}

Stencil stencil_of(const Gauge& gauge) { return gauge.links().improved() ? Stencil::improved : Stencil::naive; }

// Throws Error on every rank alike where `vectors` columns, and `besides` where fields lie, do not fit. The matrix is
// made on the host.
void require_memory(const Gauge& gauge, const BlockGrid& grid, int vectors, double besides) {
  const Communicator& all = gauge.context().communicator();
  const int device = gauge.context().cuda_device();
  const AvailableMemory available = available_memory(all, device);
  all.agree([&] {
    const double space = CoarseSpace::predicted_bytes(grid, stencil_of(gauge), vectors),
                 set_up = CoarseSpace::predicted_set_up_bytes(grid, stencil_of(gauge), vectors),
                 on_device = std::min(available.device, available.device_limit);
    const bool short_there = device >= 0 && std::max(besides, space) > on_device;
    const double needed = short_there   ? std::max(besides, space)
                          : device >= 0 ? space + set_up
                                        : std::max(besides, space + set_up),
                 there = short_there ? on_device : std::min(available.host, available.host_limit);
    if (needed <= there) return;
    throw Error(ErrorKind::memory,
                "memory: a basis of " + std::to_string(vectors) + " vectors in blocks of " + to_string(grid.block()) +
                    " on " + to_string(grid.lattice().global()) + " with grid " + to_string(grid.lattice().grid()) +
                    " would take " + gigabytes(needed) + " of " + (short_there ? "GPU" : "host") +
                    " memory for each rank (" + gigabytes(space) + " for solves), and " + gigabytes(there) +
                    " are there. Fewer `vectors`, larger blocks or more " + "ranks take less.");
  });
}

// From vectors one after the other: each_vector(take) calls take(k, v) for each.
template <class EachVector>
void keep_space(Gauge& gauge, const BlockGrid& grid, int n, const std::string& file, const Stopwatch& watch,
                const EachVector& each_vector) {
  const Communicator& all = gauge.context().communicator();
  std::optional<BlockBasis> basis;
  all.agree([&] { basis.emplace(grid, n); });
  each_vector([&](int k, const VectorField& v) { basis->set_column(k, v); });
  basis->orthonormalize();
  auto space = std::make_unique<CoarseSpace>(all, gauge.bench().plain_links(MemorySpace::host),
                                             gauge.options().boundary, std::move(*basis), space_of(gauge.context()));
  gauge.keep_blocks(std::move(space), all.max(watch.seconds()), file);
}

}  // namespace

FoundCoarse find_coarse(Gauge& gauge, const CoarseRequest& request,
                        const std::function<void(const CgProgress&)>& progress, const bool* interrupted) {
  const Context& context = gauge.context();
  const Context::Scope scope(context);
  const Communicator& all = context.communicator();
  check_coarse_request(request);
  const BlockGrid grid(context.lattice(), request.block.value_or(chosen_block(context.lattice().global())));
  OperatorOptions options =
      operator_options(gauge.options(), near_null_columns(request.vectors), context.cuda_device());
  options.unlike_ranks = context.unlike_ranks();
  const OperatorBytes of_operator = predict_operator_bytes(context.lattice(), options);
  const double vector = of_operator.vector / options.n_rhs;
  require_memory(gauge, grid, request.vectors,
                 of_operator.links + of_operator.halo + 7 * of_operator.vector + request.vectors * vector);

  FoundCoarse found;
  CoarseReport& report = found.report;
  report.request = request;
  report.request.block = grid.block();
  report.seconds["read"] = gauge.links().read_seconds();
  const Stopwatch whole;
  {
    Stopwatch watch;
    StaggeredOperator d(all, gauge.links().as_they_came(), options, gauge.bench().packed_links());
    gauge.measured();
    fill_setting(report, gauge, d);
    report.seconds["setup"] = watch.seconds();
    watch = Stopwatch();
    found.vectors = find_near_null_vectors(d, request.vectors, request.iterations, request.seed, progress, interrupted);
    report.calls = request.iterations * request.vectors;
    report.seconds["vectors"] = watch.seconds();
    watch = Stopwatch();
    found.vectors.values.assign(std::size_t(request.vectors), 0);
    const MemorySpace space = context.field_device() >= 0 ? MemorySpace::cuda : MemorySpace::host;
    certify_eigenpairs(all, gauge.bench().plain_links(space), gauge.options().boundary,
                       VectorAlgebra(all, *found.vectors.layout, d.kernels()), found.vectors, Eigenvalues::recomputed);
    sort_by_value(all, found.vectors);
    report.seconds["certify"] = watch.seconds();
    report.memory_bytes = {{"links", double(all.sum(d.link_bytes()))},
                           {"halo", double(all.sum(d.halo_bytes()))},
                           {"vectors", double(all.sum(found.vectors.bytes()))}};
  }
  report.values = found.vectors.values;
  report.residuals = found.vectors.residuals;
  const Stopwatch making;
  VectorField v(context.lattice()), there(context.lattice(), found.vectors.space);
  keep_space(gauge, grid, request.vectors, "", whole, [&](const auto& take) {
    for (int k = 0; k < request.vectors; ++k) {
      found.vectors.blocks[std::size_t(k / per_block)].unpack(BlockBasis::parity, k % per_block, there);
      v = there;
      take(k, v);
    }
  });
  report.seconds["space"] = making.seconds();
  report.space = gauge.blocks().summary();
  report.memory_bytes["blocks"] = double(all.sum(gauge.blocks().space()->bytes()));
  for (auto& [phase, seconds] : report.seconds) seconds = all.max(seconds);
  return found;
}

void write_coarse(Gauge& gauge, FoundCoarse& found, const EigenpairOutput& output) {
  const Context::Scope scope(gauge.context());
  const Stopwatch watch;
  EigenpairIdentity identity = gauge.links().identity();
  identity["content"] = "vectors near the null space";
  identity["block"] = to_string(*found.report.request.block);
  identity["iterations"] = std::to_string(found.report.request.iterations);
  identity["seed"] = std::to_string(found.report.request.seed);
  write_eigenpairs(gauge.context().communicator(), output, found.vectors, identity, gauge.links().as_they_came(),
                   gauge.options().boundary);
  found.report.seconds["write"] = gauge.context().communicator().max(watch.seconds());
}

Extents block_of(const EigenvectorHeader& header, const SessionOptions& options) {
  if (options.coarse_block) return *options.coarse_block;
  const auto block = header.fields.find("block");
  return block == header.fields.end() ? chosen_block(header.extents) : parse_extents(block->second);
}

void describe_blocks(SolveShape& shape, const EigenvectorHeader& header) {
  if (header.count() > CoarseRequest::most_vectors)
    throw FileError(header.path + ": vectors", "at most " + std::to_string(CoarseRequest::most_vectors),
                    header.count());
  shape.block_vectors = int(header.count());
  shape.block = block_of(header, shape.options);
  shape.options.blocks = true;
  shape.mass_by_mass = shape.mass_by_mass || solver_for(shape.options).can.blocks;
}

void load_blocks(Gauge& gauge, const EigenvectorHeader& header) {
  const Stopwatch watch;
  const Context& context = gauge.context();
  require_belongs(header, context.lattice().global(), gauge.links().identity(), gauge.links().summary().reunitarized);
  const BlockGrid grid(context.lattice(), block_of(header, gauge.options()));
  require_memory(gauge, grid, int(header.count()), 0);
  VectorField v(context.lattice());
  keep_space(gauge, grid, int(header.count()), header.path, watch, [&](const auto& take) {
    read_each_eigenvector(
        context.communicator(), header, context.lattice(), gauge.options().no_verify,
        [&](std::int64_t) -> VectorField& { return v; }, [&](std::int64_t k) { take(int(k), v); });
  });
}

}  // namespace staghorn
