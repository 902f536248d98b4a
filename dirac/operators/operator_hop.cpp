// How a hop runs: faces are packed, messages travel while interior sites are computed, then come the boundary sites;
// and the exact sums of what it wrote.
#include "dirac/operators/operator_state.hpp"
#include "halo/watch/activity.hpp"

namespace staghorn {

namespace {

constexpr int interior_parts = 2;  // messages get a chance to advance between them

}  // namespace

void StaggeredOperator::State::pack(const HopView& view, const void* in) {
  if (kernels.space == MemorySpace::cuda)
    kernels.pack_faces(view, in, exchange.outgoing());
  else if (const auto& wire = wires[1 - view.target])
    wire->pack(options.precision, options.n_rhs, in, exchange.outgoing());
  else
    pack_faces(data->faces[1 - view.target], layout.lanes(), options.precision, options.n_rhs, in,
               exchange.send_buffer());
}

void StaggeredOperator::State::hop(Parity target, HopCall call) {
  const Activity activity("hop");
  refresh_scales();
  const NeighbourTable& table = data->tables[int(target)];
  const HopView& view = views[int(target)];
  const auto compute = [&](std::span<const std::int32_t> blocks, double& seconds) {
    ScopedTimer timer(seconds);
    call.blocks = blocks;
    run.hop(view, call);
  };
  if (kernels.space == MemorySpace::cuda) return cuda_hop(view, call);
  if (table.boundary_blocks.empty()) return compute(table.interior_blocks, times.interior);

  {
    ScopedTimer timer(times.pack);
    pack(view, call.in);
  }
  {
    ScopedTimer timer(times.start);
    exchange.start();
  }
  const auto& wire = wires[1 - view.target];
  const auto finish = [&] {
    ScopedTimer timer(times.wait);
    exchange.finish();
  };
  if (!options.overlap) finish();
  const std::span<const std::int32_t> interior = table.interior_blocks;
  for (int part = 0; part < interior_parts; ++part) {
    const std::size_t first = interior.size() * part / interior_parts,
                      last = interior.size() * (part + 1) / interior_parts;
    const double before = times.interior;
    if (last > first) compute(interior.subspan(first, last - first), times.interior);
    if (options.overlap) exchange.progress(times.interior - before);
  }
  if (options.overlap) finish();
  if (wire) {
    ScopedTimer timer(times.pack);
    wire->unpack(options.precision, options.n_rhs, exchange.incoming(), ghosts.data());
  }
  call.ghost = wire ? ghosts.data() : exchange.ghost_buffer();
  compute(table.boundary_blocks, times.boundary);
}

// A hop on the GPU: everything is queued, and the host attends to messages while the interior is computed.
void StaggeredOperator::State::cuda_hop(const HopView& view, HopCall& call) {
  const bool sums = call.use != HopUse::store;
  if (sums) kernels.start_sums(view, call);
  if (view.geometry.boundary_sites == 0) {
    run.hop(view, call);
  } else {
    sampled.begin(exchange);
    sampled.mark(SampledHops::gather);
    pack(view, call.in);
    sampled.mark(SampledHops::packed);
    exchange.start();
    if (!options.overlap) exchange.finish();
    sampled.mark(SampledHops::interior_begins);
    call.part = HopPart::interior;
    run.hop(view, call);
    sampled.mark(SampledHops::interior_ends);
    if (options.overlap) exchange.finish();
    sampled.mark(SampledHops::boundary_begins);
    call.part = HopPart::boundary;
    call.ghost_faces = exchange.incoming();
    run.hop(view, call);
    sampled.mark(SampledHops::boundary_ends);
  }
  if (sums) {
    ScopedTimer timer(times.interior);
    kernels.finish_sums(view, call);
  }
}

std::vector<double> StaggeredOperator::State::hop_and_sums(Parity target, HopCall call, const ColorVectorField& out,
                                                           std::span<ExactSum> sums) {
  std::vector<SumGrid> grids = grids_of(sums, out.n_rhs());
  std::vector<ExactPartial> partials(grids.size());
  call.grids = grids.data();
  call.sums = partials.data();
  hop(target, call);
  return collect(partials, grids, out, sums);
}

void StaggeredOperator::State::norm2(const ColorVectorField& v, const std::vector<SumGrid>& grids,
                                     std::vector<ExactPartial>& partials) {
  kernels.norm2(vector_shape(layout, v.precision(), v.n_rhs()), views[0].launch, v.data(), grids.data(),
                partials.data());
}

std::vector<double> StaggeredOperator::State::collect(std::vector<ExactPartial>& partials, std::vector<SumGrid>& grids,
                                                      const ColorVectorField& v, std::span<ExactSum> sums) {
  if (sums.empty()) return {};
  ScopedTimer timer(times.sums);
  std::vector<double> values(partials.size());
  bool overflow = false;
  reduce(communicator, partials, grids, values, &overflow);
  for (int attempt = 0; overflow && attempt < 50; ++attempt) {
    for (std::size_t r = 0; r < grids.size(); ++r) {
      grids[r] = SumGrid::for_bound(grids[r].bound * 0x1p40);
      partials[r] = {};
    }
    norm2(v, grids, partials);
    reduce(communicator, partials, grids, values, &overflow);
  }
  for (std::size_t r = 0; r < values.size(); ++r) sums[r].remember(values[r]);
  return values;
}

std::vector<SumGrid> grids_of(std::span<ExactSum> sums, int n_rhs) {
  std::vector<SumGrid> grids(std::size_t(n_rhs), ExactSum(1).grid());
  for (std::size_t i = 0; i < sums.size(); ++i) grids[i] = sums[i].grid();
  return grids;
}

}  // namespace staghorn
