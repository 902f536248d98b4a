#include "dirac/operators/operator_state.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "dirac/kernels/rank_layouts.hpp"
#include "dirac/kernels/tuning/launch_tuning.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

std::array<std::size_t, 8> bytes_of_faces(const FaceSites& faces, const SiteLayout& layout,
                                          const OperatorOptions& options) {
  std::array<std::size_t, 8> bytes{};
  for (int face = 0; face < 8; ++face) {
    // Whole blocks between CPUs of one kind; else a face is a block of its own.
    const std::size_t sites = faces.slots[face].size(), lanes = layout.lanes();
    const bool own_block = options.cuda_device >= 0 || options.unlike_ranks;
    const std::size_t padded = own_block ? sites : (sites + lanes - 1) / lanes * lanes;
    bytes[face] = padded * options.n_rhs * bytes_per_vector(options.precision);
  }
  return bytes;
}

const KernelTable& chosen_kernels(const OperatorOptions& options) {
  if (options.cuda_device < 0) return cpu_kernels(options.instruction_set);
  cuda::select_device(options.cuda_device);
  return cuda_kernels();
}

// Collective.
OperatorOptions checked(const Communicator& communicator, OperatorOptions options, const OperatorLinks& links) {
  options.unlike_ranks = layouts_differ(communicator, chosen_kernels(options));
  if (options.n_rhs < 1 || options.n_rhs > max_rhs)
    throw Error("right-hand sides in one batch", rhs_range(), options.n_rhs);
  require_fit(links);
  options.stencil = links.stencil();
  if (options.stencil == Stencil::naive) {
    options.naik_reconstruct = Reconstruct::none18;
    return options;
  }
  if (options.reconstruct != Reconstruct::none18)
    throw Error("fat links", "18 reals, for they are not unitary", to_string(options.reconstruct));
  return options;
}

}  // namespace

StaggeredOperator::State::State(const Communicator& communicator, const OperatorLinks& links,
                                const OperatorOptions& options_in, std::shared_ptr<HopData> from)
    : communicator(communicator),
      options(checked(communicator, options_in, links)),
      kernels(chosen_kernels(options)),
      data(from && from->serves(options)
               ? std::move(from)
               : std::make_shared<HopData>(communicator, links, kernels.layout(links.lattice(), options.precision),
                                           options, from.get(), pieces)),
      layout(data->layout),
      scratch(std::size_t(kernels.scratch_bytes), kernels.space),
      scratch_host(std::size_t(kernels.scratch_bytes), MemorySpace::pinned),
      transport(choose_transport(communicator, links.lattice(), bytes_of_faces(data->faces[0], layout, options),
                                 kernels.space, options.transport)),
      exchange(communicator, links.lattice(), bytes_of_faces(data->faces[0], layout, options), kernels.space,
               transport.name),
      run(hop_kernels(kernels, options.experiment, communicator, exchange.face_bytes())) {
  for (const Parity target : {Parity::even, Parity::odd}) views[int(target)] = view_of(target);
  if (options.unlike_ranks) communicator.agree([&] { make_wires(); });
  tune();
}

void StaggeredOperator::State::reload(const OperatorLinks& links, const HopData* from) {
  if (links.stencil() != options.stencil)
    throw Error("links that are reloaded", "those of the same action", "links of another action");
  data->reload(communicator, links, from, pieces);  // views and graphs keep addresses
}

void StaggeredOperator::State::refresh_scales() {
  for (HopView& v : views) {
    v.near.scale = scale_of(LinkSet::near);
    v.naik.scale = scale_of(LinkSet::naik);
  }
}

double StaggeredOperator::State::scale_of(LinkSet set) const {
  if (options.stencil == Stencil::naive) return 1;
  return data->of(set).scale() * (set == LinkSet::naik ? data->naik_scale : 1);
}

HopView StaggeredOperator::State::view_of(Parity target) {
  HopView v;
  v.vectors = vector_shape(layout, options.precision, options.n_rhs);
  v.stencil = options.stencil;
  v.near = links_of(LinkSet::near, target);
  if (options.stencil == Stencil::improved) v.naik = links_of(LinkSet::naik, target);
  v.target = int(target);
  for (int hop = 0; hop < 8; ++hop) {
    const double angle = std::numbers::pi * std::fmod(options.boundary.theta[hop / 2], 2.0);  // exact
    v.phase[hop][0] = std::cos(angle);
    v.phase[hop][1] = hop % 2 == 0 ? std::sin(angle) : -std::sin(angle);
  }
  const NeighbourTable& table = data->tables[int(target)];
  v.neighbourhood = {table.neighbours.data(), table.special.data(), table.special_link.data()};
  v.geometry = geometry_of(target);
  v.launch.scratch = scratch.data();
  v.launch.scratch_host = scratch_host.data();
  return v;
}

LinkSetView StaggeredOperator::State::links_of(LinkSet set, Parity target) const {
  const KernelLinks& links = data->of(set);
  LinkSetView v;
  v.reconstruct = options.form().of(set);
  v.scale = scale_of(set);
  v.here = links.links(target);
  v.there = links.links(opposite(target));
  v.special = links.special_links(target);
  for (int mu = 0; mu < 4; ++mu) v.ghosts[mu] = links.ghost_links(target, mu);
  return v;
}

DeviceGeometry StaggeredOperator::State::geometry_of(Parity target) const {
  const Lattice& lattice = layout.lattice();
  const Buffer& boundary = data->boundary[int(target)];
  DeviceGeometry g;
  g.extents = lattice.local();
  g.depth = depth_of(options.stencil);
  g.theta = options.boundary.theta;
  g.boundary = reinterpret_cast<const std::int32_t*>(boundary.data());
  g.boundary_sites = int(boundary.bytes() / sizeof(std::int32_t));
  for (int mu = 0; mu < 4; ++mu) {
    const int place = lattice.grid_coordinates()[mu];
    g.cut[mu] = lattice.partitioned(mu);
    g.at_lattice_edge[2 * mu] = place == lattice.grid()[mu] - 1;
    g.at_lattice_edge[2 * mu + 1] = place == 0;
  }
  return g;
}

// Local.
void StaggeredOperator::State::make_wires() {
  if (kernels.space == MemorySpace::cuda) return;  // packs and reads faces as they travel
  for (const Parity parity : {Parity::even, Parity::odd})
    wires[int(parity)].emplace(layout, parity, depth_of(options.stencil), data->faces[int(parity)]);
  ghosts = Buffer(wires[0]->ghost_bytes(options.precision, options.n_rhs));
}

void StaggeredOperator::State::tune() {
  // Where CPUs compute beside GPUs, only the ranks on GPUs tune, with each other.
  std::optional<Communicator> like;
  if (options.unlike_ranks) like.emplace(communicator.split(int(kernels.space), communicator.rank()));
  if (kernels.space != MemorySpace::cuda) return;
  const HopView& view = views[0];
  const std::string device =
      cuda::device_name(options.cuda_device) + " " + cuda::device_architecture(options.cuda_device);
  const bool whole = view.geometry.boundary_sites == 0 || exchange.peers();
  tuning = tune_launches(like ? *like : communicator, {kernels, layout, view, exchange.incoming(), whole}, device,
                         options.tuning);
  for (HopView& v : views) v.launch.choices = tuning.choices;
}

CommunicationTimes StaggeredOperator::State::communication_times() {
  CommunicationTimes result;
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

}  // namespace staghorn
