#include "dirac/staggered_operator.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "dirac/face_packing.hpp"
#include "dirac/gauge_field.hpp"
#include "dirac/kernels.hpp"
#include "dirac/launch_tuning.hpp"
#include "dirac/neighbour_table.hpp"
#include "halo/cuda_device.hpp"
#include "halo/error.hpp"
#include "halo/face_exchange.hpp"
#include "halo/phase.hpp"

namespace staghorn {

namespace {

std::array<FaceSites, 2> both_face_sites(const SiteLayout& layout) {
  return {face_sites(layout, Parity::even), face_sites(layout, Parity::odd)};
}

// The CPU reads where neighbours are, the GPU computes it.
std::array<NeighbourTable, 2> both_tables(const Kernels& kernels, const SiteLayout& layout, const Boundary& boundary,
                                          const std::array<FaceSites, 2>& faces) {
  if (kernels.space == MemorySpace::cuda) return {};
  return {build_neighbour_table(layout, boundary, Parity::even, faces[1]),
          build_neighbour_table(layout, boundary, Parity::odd, faces[0])};
}

std::array<std::size_t, 8> face_bytes(const FaceSites& faces, const SiteLayout& layout,
                                      const OperatorOptions& options) {
  std::array<std::size_t, 8> bytes{};
  for (int face = 0; face < 8; ++face) {
    // Whole blocks on the CPU; on the GPU a face is a block of its own.
    const std::size_t sites = faces.slots[face].size(), lanes = layout.lanes();
    const std::size_t padded = options.cuda_device >= 0 ? sites : (sites + lanes - 1) / lanes * lanes;
    bytes[face] = padded * options.n_rhs * bytes_per_vector(options.precision);
  }
  return bytes;
}

constexpr int interior_parts = 2;  // messages get a chance to advance between them

const Kernels& chosen_kernels(const OperatorOptions& options) {
  if (options.cuda_device < 0) return cpu_kernels(options.instruction_set);
  cuda::select_device(options.cuda_device);
  return cuda_kernels();
}

// The sites that need a ghost, as the GPU reads them.
Buffer boundary_list(const FaceSites& faces, MemorySpace space) {
  if (space != MemorySpace::cuda) return {};
  std::set<Slot> sites;
  for (const std::vector<Slot>& face : faces.slots) sites.insert(face.begin(), face.end());
  Buffer host(sites.size() * sizeof(Slot)), device(host.bytes(), space);
  std::copy(sites.begin(), sites.end(), reinterpret_cast<Slot*>(host.data()));
  device.copy_from(host);
  return device;
}

const OperatorOptions& checked(const OperatorOptions& options) {
  if (options.n_rhs < 1 || options.n_rhs > max_rhs)
    throw Error("right-hand sides in one batch", "1 to " + std::to_string(max_rhs), options.n_rhs);
  return options;
}

}  // namespace

struct StaggeredOperator::State {
  State(const Communicator& communicator, const LinkField& links, const OperatorOptions& options_in)
      : communicator(communicator),
        options(checked(options_in)),
        kernels(chosen_kernels(options)),
        layout(kernels.layout(links.lattice(), options.precision)),
        faces(both_face_sites(layout)),
        tables(both_tables(kernels, layout, options.boundary, faces)),
        gauge(communicator, links, layout, options.precision, options.reconstruct, tables, kernels.space),
        boundary{boundary_list(faces[0], kernels.space), boundary_list(faces[1], kernels.space)},
        scratch(std::size_t(kernels.scratch_bytes), kernels.space),
        scratch_host(std::size_t(kernels.scratch_bytes), MemorySpace::pinned),
        transport(choose_transport(communicator, links.lattice(), face_bytes(faces[0], layout, options), kernels.space,
                                   options.transport)),
        exchange(communicator, links.lattice(), face_bytes(faces[0], layout, options), kernels.space, transport.name) {
    for (const Parity target : {Parity::even, Parity::odd}) {
      const NeighbourTable& table = tables[int(target)];
      HopView& v = views[int(target)];
      v.precision = options.precision;
      v.reconstruct = options.reconstruct;
      v.n_rhs = options.n_rhs;
      v.blocks = layout.blocks();
      v.lanes_in_last_block = int(layout.lattice().local_volume() / 2 - (v.blocks - 1) * layout.lanes());
      v.target = int(target);
      v.extents = layout.lattice().local();
      v.theta = options.boundary.theta;
      v.scratch = scratch.data();
      v.scratch_host = scratch_host.data();
      v.boundary = reinterpret_cast<const std::int32_t*>(boundary[int(target)].data());
      v.boundary_sites = int(boundary[int(target)].bytes() / sizeof(std::int32_t));
      for (int mu = 0; mu < 4; ++mu) {
        const Lattice& lattice = layout.lattice();
        const int place = lattice.grid_coordinates()[mu];
        v.cut[mu] = lattice.partitioned(mu);
        v.at_lattice_edge[2 * mu] = place == lattice.grid()[mu] - 1;
        v.at_lattice_edge[2 * mu + 1] = place == 0;
        v.ghost_links[mu] = gauge.ghost_links(target, mu);
      }
      v.neighbours = table.neighbours.data();
      v.special = table.special.data();
      v.special_link = table.special_link.data();
      v.links_here = gauge.links(target);
      v.links_there = gauge.links(opposite(target));
      v.links_special = gauge.special_links(target);
      for (int hop = 0; hop < 8; ++hop) {
        const double angle = std::numbers::pi * options.boundary.theta[hop / 2];
        v.phase[hop][0] = std::cos(angle);
        v.phase[hop][1] = hop % 2 == 0 ? std::sin(angle) : -std::sin(angle);
      }
    }
    tune();
  }

  void tune() {
    if (kernels.space != MemorySpace::cuda) return;
    const HopView& view = views[0];
    const std::string device =
        cuda::device_name(options.cuda_device) + " " + cuda::device_architecture(options.cuda_device);
    const bool whole = view.boundary_sites == 0 || exchange.peers();
    tuning = tune_launches(communicator, {kernels, layout, view, exchange.incoming(), whole}, device, options.tuning);
    for (HopView& v : views) v.launches = tuning.choices;
  }

  // One hop into `target`, faces in flight while interior blocks are computed. `call` lacks only its blocks and ghosts.
  void hop(Parity target, HopCall call) {
    const Phase phase("hop");
    const NeighbourTable& table = tables[int(target)];
    const HopView& view = views[int(target)];
    const auto compute = [&](std::span<const std::int32_t> blocks, double& seconds) {
      PhaseTimer timer(seconds);
      call.blocks = blocks;
      kernels.hop(view, call);
    };
    if (kernels.space == MemorySpace::cuda) return cuda_hop(view, call);
    if (table.boundary_blocks.empty()) return compute(table.interior_blocks, times.interior);

    {
      PhaseTimer timer(times.pack);
      pack_faces(faces[int(opposite(target))], layout.lanes(), options.precision, options.n_rhs, call.in,
                 exchange.send_buffer());
    }
    {
      PhaseTimer timer(times.start);
      exchange.start();
    }
    call.ghost = exchange.ghost_buffer();
    const auto finish = [&] {
      PhaseTimer timer(times.wait);
      exchange.finish();
    };
    if (!options.overlap) finish();
    const std::span<const std::int32_t> interior = table.interior_blocks;
    for (int part = 0; part < interior_parts; ++part) {
      const std::size_t first = interior.size() * part / interior_parts,
                        last = interior.size() * (part + 1) / interior_parts;
      if (last > first) compute(interior.subspan(first, last - first), times.interior);
      if (options.overlap) exchange.progress();
    }
    if (options.overlap) finish();
    compute(table.boundary_blocks, times.boundary);
  }

  // The same on the GPU: everything is queued, and the host sees to messages while the interior is computed.
  void cuda_hop(const HopView& view, HopCall& call) {
    const bool sums = call.use != HopUse::store;
    if (sums) kernels.start_sums(view, call);
    if (view.boundary_sites == 0) {
      kernels.hop(view, call);
    } else {
      sampled.begin(exchange);
      sampled.mark(SampledHops::gather);
      kernels.pack_faces(view, call.in, exchange.outgoing());
      sampled.mark(SampledHops::packed);
      exchange.start();
      if (!options.overlap) exchange.finish();
      sampled.mark(SampledHops::interior_begins);
      call.part = HopPart::interior;
      kernels.hop(view, call);
      sampled.mark(SampledHops::interior_ends);
      if (options.overlap) exchange.finish();
      sampled.mark(SampledHops::boundary_begins);
      call.part = HopPart::boundary;
      call.ghost_faces = exchange.incoming();
      kernels.hop(view, call);
      sampled.mark(SampledHops::boundary_ends);
    }
    if (sums) {
      PhaseTimer timer(times.interior);
      kernels.finish_sums(view, call);
    }
  }

  FaceTimes face_times() {
    FaceTimes result;
    if (kernels.space == MemorySpace::cuda) {
      result = sampled.times(exchange);
    } else {
      result.compute.seconds = times.interior + times.boundary;
      result.gather.seconds = times.pack;
      result.messages = result.communication = exchange.time_in_flight();
    }
    result.sums.seconds = times.sums;
    return result;
  }

  // Adds up |v|^2 of a field in the operator's precision or, of x, in the one it computes with.
  void norm2(const ColorVectorField& v, const std::vector<SumGrid>& grids, std::vector<ExactPartial>& partials) {
    HopView view = views[0];
    view.precision = v.precision();
    kernels.norm2(view, v.data(), grids.data(), partials.data());
  }

  // The exact sums of what a kernel just added up; if a contribution did not fit its grid, |v|^2 is summed again on
  // larger grids until it does.
  std::vector<double> collect(std::vector<ExactPartial>& partials, std::vector<SumGrid>& grids,
                              const ColorVectorField& v, std::span<ExactSum> sums) {
    PhaseTimer timer(times.sums);
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

  static std::vector<SumGrid> grids_of(std::span<ExactSum> sums) {
    std::vector<SumGrid> grids;
    for (const ExactSum& sum : sums) grids.push_back(sum.grid());
    return grids;
  }

  const Communicator& communicator;
  OperatorOptions options;
  const Kernels& kernels;
  SiteLayout layout;
  std::array<FaceSites, 2> faces;        // by sending parity
  std::array<NeighbourTable, 2> tables;  // by target parity
  GaugeField gauge;
  std::array<Buffer, 2> boundary;  // by target parity; GPU only
  Buffer scratch, scratch_host;
  TransportChoice transport;
  FaceExchange exchange;
  std::array<HopView, 2> views;  // by target parity
  LaunchTuning tuning;
  HopTimes times;
  SampledHops sampled;  // GPU only
};

StaggeredOperator::StaggeredOperator(const Communicator& communicator, const LinkField& links,
                                     const OperatorOptions& options) {
  const Phase phase("setting up the operator");
  state_ = std::make_unique<State>(communicator, links, options);
}
StaggeredOperator::~StaggeredOperator() = default;

const Communicator& StaggeredOperator::communicator() const { return state_->communicator; }
const SiteLayout& StaggeredOperator::layout() const { return state_->layout; }
const Lattice& StaggeredOperator::lattice() const { return state_->layout.lattice(); }
const OperatorOptions& StaggeredOperator::options() const { return state_->options; }
std::string StaggeredOperator::kernels() const { return state_->kernels.name; }
std::int64_t StaggeredOperator::link_bytes() const { return state_->gauge.bytes(); }
std::int64_t StaggeredOperator::halo_bytes() const {
  return state_->exchange.bytes() + state_->tables[0].bytes() + state_->tables[1].bytes();
}
std::string StaggeredOperator::transport() const { return state_->exchange.transport(); }
const TransportChoice& StaggeredOperator::transport_choice() const { return state_->transport; }
bool StaggeredOperator::host_free() const {
  if (state_->kernels.space != MemorySpace::cuda) return false;
  return state_->communicator.size() == 1 || state_->exchange.peers();
}
PeerTransport* StaggeredOperator::peers() { return state_->exchange.peers(); }
const LaunchTuning& StaggeredOperator::tuning() const { return state_->tuning; }
const HopTimes& StaggeredOperator::times() const { return state_->times; }
FaceTimes StaggeredOperator::face_times() const { return state_->face_times(); }
void StaggeredOperator::reset_times() {
  state_->times = {};
  state_->sampled.reset();
  state_->exchange.reset_time_in_flight();
}

ColorVectorField StaggeredOperator::make_vector() const {
  return ColorVectorField(state_->layout, state_->options.precision, state_->options.n_rhs, state_->kernels.space);
}

ColorVectorField StaggeredOperator::make_solution() const {
  return ColorVectorField(state_->layout, arithmetic_of(state_->options.precision), state_->options.n_rhs,
                          state_->kernels.space);
}

void StaggeredOperator::hop(ColorVectorField& out, const ColorVectorField& in, Parity target) {
  HopCall call;
  call.use = HopUse::store;
  call.in = in.data();
  call.out = out.data();
  state_->hop(target, call);
}

std::vector<double> StaggeredOperator::hop_and_norm2(ColorVectorField& out, const ColorVectorField& in, Parity target,
                                                     std::span<ExactSum> sums) {
  std::vector<SumGrid> grids = State::grids_of(sums);
  std::vector<ExactPartial> partials(sums.size());
  HopCall call;
  call.use = HopUse::store_norm;
  call.in = in.data();
  call.out = out.data();
  call.grids = grids.data();
  call.sums = partials.data();
  state_->hop(target, call);
  return state_->collect(partials, grids, out, sums);
}

std::vector<double> StaggeredOperator::update_residual(ColorVectorField& r, const ColorVectorField& p,
                                                       const ColorVectorField& tmp, Parity parity, double four_m2,
                                                       std::span<const double> alpha, std::span<ExactSum> sums) {
  std::vector<SumGrid> grids = State::grids_of(sums);
  std::vector<ExactPartial> partials(sums.size());
  HopCall call;
  call.use = HopUse::update_residual;
  call.in = tmp.data();
  call.out = r.data();
  call.p = p.data();
  call.four_m2 = four_m2;
  call.alpha = alpha.data();
  call.grids = grids.data();
  call.sums = partials.data();
  state_->hop(parity, call);
  return state_->collect(partials, grids, r, sums);
}

std::vector<double> StaggeredOperator::update_direction(ColorVectorField& x, ColorVectorField& p,
                                                        const ColorVectorField& r, std::span<const double> alpha,
                                                        std::span<const double> beta, std::span<ExactSum> sums) {
  std::vector<SumGrid> grids = State::grids_of(sums);
  std::vector<ExactPartial> partials(sums.size());
  state_->kernels.update_direction(
      state_->views[0], {x.data(), p.data(), r.data(), alpha.data(), beta.data(), grids.data(), partials.data()});
  return state_->collect(partials, grids, p, sums);
}

std::vector<double> StaggeredOperator::norm2(const ColorVectorField& v, std::span<ExactSum> sums) {
  std::vector<SumGrid> grids = State::grids_of(sums);
  std::vector<ExactPartial> partials(sums.size());
  state_->norm2(v, grids, partials);
  return state_->collect(partials, grids, v, sums);
}

void StaggeredOperator::combine(double alpha, const ColorVectorField& a, double beta, ColorVectorField& b) const {
  state_->kernels.combine(b.precision(), b.bytes() / bytes_per_real(b.precision()), alpha, a.data(), beta, b.data());
}

const HopView& StaggeredOperator::view(Parity target) const { return state_->views[int(target)]; }

}  // namespace staghorn
