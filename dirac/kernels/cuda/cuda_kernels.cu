// The table of CUDA kernels. A call launches, waits, and hands the sums to the host. (Loops of CG on the device keep
// their scalars there; calls with DeviceScalars only launch.)
#include <algorithm>

#include "dirac/kernels/cuda/cuda_hop.cuh"
#include "dirac/kernels/cuda/cuda_scratch.cuh"
#include "dirac/kernels/cuda/cuda_vector_kernels.hpp"
#include "dirac/kernels/kernel_table.hpp"
#include "dirac/stencil/hop_sign.hpp"
#include "halo/cuda/cuda_check.hpp"

namespace staghorn::cuda {

namespace {

cudaStream_t stream_of(const HopView& view) { return static_cast<cudaStream_t>(view.launch.stream); }

void start_sums(const HopView& view, const HopCall& call) {
  send_scalars(view.launch, view.vectors.n_rhs,
               {.alpha = call.alpha, .beta = call.beta, .new_weight = call.new_weight, .old_weight = call.old_weight},
               call.grids);
}
void finish_sums(const HopView& view, const HopCall& call) { collect_sums(view.launch, view.vectors.n_rhs, call.sums); }

void hop(const HopView& view, const HopCall& call) {
  const ImprovedArguments a = hop_arguments(view, call);
  const int* done = scalars_for(view.launch, call.device).done;
  const Launch how{stream_of(view), call.part, call.reversed};
  if (call.use == HopUse::update_residual)
    launch_hop<HopUse::update_residual>(view, a, NoFinish{done}, how);
  else
    launch_hop<HopUse::store_norm>(view, a, NoFinish{done}, how);
}

struct FaceList {
  int count, face[8];
};

// blockIdx.y counts the faces that go somewhere, since blocks without work are not free; blockIdx.z is the slice.
template <class Stored>
__global__ void __launch_bounds__(update_threads)
    pack_kernel(LocalSites sites, const Stored* v, int n_rhs, const Faces to, const FaceList list) {
  const int face = list.face[blockIdx.y], slice = int(blockIdx.z), in_slice = sites.face_sites[face / 2];
  const int item = int(blockIdx.x) * update_threads + int(threadIdx.x);
  if (item >= in_slice) return;
  const Place place = place_in_face(sites, face, slice, item);
  const int V = sites.depth * in_slice;
#pragma unroll 1
  for (int rhs = 0; rhs < n_rhs; ++rhs)
    copy_vector(static_cast<Stored*>(to.face[face]) + vector_offset<Stored>(rhs, V), V, slice * in_slice + item,
                v + vector_offset<Stored>(rhs, sites.V), sites.V, place.site);
}

void pack_faces(const HopView& view, const void* v, const FacePointers& to) {
  LocalSites sites = hop_arguments(view).sites;
  sites.parity = 1 - view.target;
  FaceList list = {};
  int largest = 0;
  for (int face = 0; face < 8; ++face)
    if (to[std::size_t(face)]) {
      list.face[list.count++] = face;
      largest = std::max(largest, sites.face_sites[face / 2]);
    }
  if (list.count == 0) return;
  const dim3 grid((largest + update_threads - 1) / update_threads, list.count, sites.depth);
  with_stored(view.vectors.precision, v, [&](const auto* stored) {
    pack_kernel<<<grid, update_threads, 0, stream_of(view)>>>(sites, stored, view.vectors.n_rhs, faces(to), list);
  });
  STAGHORN_CUDA_CHECK_LAUNCH(pack_kernel);
}

void update_direction(const HopView& view, const DirectionCall& call) {
  if (!call.device) send_scalars(view.launch, view.vectors.n_rhs, {.alpha = call.alpha, .beta = call.beta}, call.grids);
  launch_direction(view, direction_arguments(view, call), NoFinish{scalars_for(view.launch, call.device).done},
                   {stream_of(view)});
  if (!call.device) collect_sums(view.launch, view.vectors.n_rhs, call.sums);
}

// The extent in z of the slabs in which hops of many right-hand sides walk a box. It divides the box's extent, and is
// at least 4, since slabs read each other's edges. A slice of all right-hand sides takes at most 3.2 MB: fp64 is
// fastest with 3 MB, fp32 with 3 to 6 MB.
int slab_extent(const HopView& view, int box_extent) {
  constexpr std::int64_t most_bytes = 3'200'000;
  const std::int64_t plane = std::int64_t(view.geometry.extents[0]) / 2 * view.geometry.extents[1] *
                             view.vectors.n_rhs * bytes_per_vector(view.vectors.precision);
  int slab = box_extent;
  for (int extent = box_extent; extent >= 4 && slab * plane > most_bytes; --extent)
    if (box_extent % extent == 0) slab = extent;
  return slab;
}

LinkPointers link_pointers(const LinkSetView& links) {
  LinkPointers pointers{links.here, links.there, {}};
  std::copy(links.ghosts.begin(), links.ghosts.end(), pointers.ghosts);
  return pointers;
}

LinkScale link_scale(const LinkSetView& links) { return {links.scale, float(links.scale)}; }

}  // namespace

ImprovedArguments hop_arguments(const HopView& view, const HopCall& call) {
  ImprovedArguments a = hop_arguments(view);
  const DeviceScalars scalars = scalars_for(view.launch, call.device);
  a.in = call.in;
  a.ghosts = faces(call.ghost_faces);
  a.push = faces(call.push);
  a.out = call.out;
  a.p = call.p;
  a.four_m2 = call.four_m2;
  a.alpha = scalars.alpha;
  if (call.device || call.beta) a.beta = scalars.beta;
  a.x = call.x;
  a.new_weight = scalars.new_weight;
  a.old_weight = scalars.old_weight;
  a.cells = static_cast<SumCell*>(scalars.cells);
  if (call.use != HopUse::store) a.bound = scalars.bound;
  return a;
}

DirectionArguments direction_arguments(const HopView& view, const DirectionCall& call) {
  const DeviceScalars scalars = scalars_for(view.launch, call.device);
  DirectionArguments a = {};
  a.sites = hop_arguments(view).sites;
  a.x = call.x;
  a.p = call.p;
  a.r = call.r;
  a.push = faces(call.push);
  a.alpha = scalars.alpha;
  a.beta = scalars.beta;
  a.bound = scalars.bound;
  a.cells = static_cast<SumCell*>(scalars.cells);
  return a;
}

ImprovedArguments hop_arguments(const HopView& view) {
  ImprovedArguments a = {};
  a.near = link_pointers(view.near);
  a.naik = link_pointers(view.naik);
  a.near_scale = link_scale(view.near);
  a.naik_scale = link_scale(view.naik);
  a.n_rhs = view.vectors.n_rhs;
  LocalSites& s = a.sites;
  s.parity = view.target;
  s.boundary = view.geometry.boundary;
  s.boundary_sites = view.geometry.boundary_sites;
  s.V = view.vectors.lanes;
  s.depth = view.geometry.depth;
  const int sites =
      view.geometry.extents[0] / 2 * view.geometry.extents[1] * view.geometry.extents[2] * view.geometry.extents[3];
  s.box_sites = 1;
  for (int mu = 0; mu < 4; ++mu) {
    s.extents[mu] = view.geometry.extents[mu];
    s.strides[mu] = mu == 0 ? 0 : mu == 1 ? s.extents[0] / 2 : s.strides[mu - 1] * s.extents[mu - 1];
    s.cut[mu] = view.geometry.cut[mu];
    s.face_sites[mu] = sites / s.extents[mu];
    s.box_origin[mu] = view.geometry.cut[mu] ? s.depth : 0;
    const int box = std::max(0, s.extents[mu] - 2 * s.box_origin[mu]), step = mu == 0 ? 2 : 1;  // along x
    s.box_sites *= box / step;
    const Divisor of_box(std::max(1, box / step));  // of an empty box: any
    if (mu < 3) {
      s.digits[mu] = Divisor(s.extents[mu] / step);
      s.box_digits[mu] = of_box;
    }
    if (mu == 2) {
      s.slab = slab_extent(view, box);
      s.slab_digits[0] = Divisor(std::max(1, s.slab));
    }
    if (mu == 3) s.slab_digits[1] = of_box;
    a.cosine[mu] = view.phase[2 * mu][0];
    a.sine[mu] = view.phase[2 * mu][1];
  }
  for (int hop = 0; hop < 8; ++hop) {
    const double theta = view.geometry.theta[hop / 2];
    a.antiperiodic[hop] = view.geometry.at_lattice_edge[hop] && is_antiperiodic(theta);
    a.phase[hop] = view.geometry.at_lattice_edge[hop] && is_phase(theta);
  }
  return a;
}

}  // namespace staghorn::cuda

namespace staghorn {

const KernelTable& cuda_kernels() {
  static const KernelTable table = {"cuda",
                                    MemorySpace::cuda,
                                    0,
                                    std::int64_t(sizeof(cuda::Scratch)),
                                    cuda::hop,
                                    cuda::update_direction,
                                    cuda::start_sums,
                                    cuda::finish_sums,
                                    cuda::pack_faces,
                                    cuda::norm2,
                                    cuda::combine,
                                    cuda::read_stream};
  return table;
}

}  // namespace staghorn
