// The table of CUDA kernels: each call launches, waits, and hands the sums to the host. (Loops of CG on the device keep
// their scalars there; calls with these only launch.)
#include <algorithm>
#include <cstddef>
#include <utility>

#include "dirac/kernels/cuda/cuda_hop.cuh"
#include "halo/cuda/cuda_check.hpp"

namespace staghorn::cuda {

namespace {

// The layout of LaunchContext::scratch and scratch_host.
struct Scratch {
  double alpha[max_rhs], beta[max_rhs], bound[max_rhs], of_new[max_rhs], of_old[max_rhs];
  SumCell cells[max_rhs * cells_per_sum];
};

Scratch* on_device(const LaunchContext& launch) { return static_cast<Scratch*>(launch.scratch); }
Scratch* on_host(const LaunchContext& launch) { return static_cast<Scratch*>(launch.scratch_host); }

// Queues what kernels will read: scalars (nullptr: zeros), grids, empty sums. The copy on the host is free again after
// the next collect_sums.
void send_scalars(const LaunchContext& launch, int n_rhs, const DeviceScalars& given, const SumGrid* grids) {
  Scratch* host = on_host(launch);
  for (const auto& [to, from] : {std::pair{host->alpha, given.alpha}, std::pair{host->beta, given.beta},
                                 std::pair{host->of_new, given.of_new}, std::pair{host->of_old, given.of_old}})
    for (int r = 0; r < n_rhs; ++r) to[r] = from ? from[r] : 0;
  for (int r = 0; r < n_rhs; ++r) host->bound[r] = grids[r].bound;
  STAGHORN_CUDA_CHECK(cudaMemcpyAsync(launch.scratch, host, offsetof(Scratch, cells), cudaMemcpyHostToDevice));
  STAGHORN_CUDA_CHECK(cudaMemsetAsync(on_device(launch)->cells, 0, n_rhs * cells_per_sum * sizeof(SumCell)));
}

void collect_sums(const LaunchContext& launch, int n_rhs, ExactPartial* sums) {
  const SumCell* cells = on_host(launch)->cells;
  STAGHORN_CUDA_CHECK(cudaMemcpyAsync(on_host(launch)->cells, on_device(launch)->cells,
                                      n_rhs * cells_per_sum * sizeof(SumCell), cudaMemcpyDeviceToHost));
  STAGHORN_CUDA_CHECK(cudaStreamSynchronize(nullptr));
  for (int r = 0; r < n_rhs; ++r)
    for (int c = 0; c < cells_per_sum; ++c) {
      const SumCell& cell = cells[r * cells_per_sum + c];
      sums[r].total += (static_cast<__int128>(cell.high) << 42) + cell.low;
      sums[r].overflow |= cell.overflow != 0;
    }
}

// What kernels use: the scalars that the call gives, or those of the scratch.
DeviceScalars scalars_for(const LaunchContext& launch, const DeviceScalars* given) {
  if (given) return *given;
  Scratch* scratch = on_device(launch);
  return {scratch->alpha, scratch->beta, scratch->bound, scratch->of_new, scratch->of_old, scratch->cells, nullptr};
}

cudaStream_t stream_of(const HopView& view) { return static_cast<cudaStream_t>(view.launch.stream); }

void start_sums(const HopView& view, const HopCall& call) {
  send_scalars(view.launch, view.vectors.n_rhs,
               {.alpha = call.alpha, .beta = call.beta, .of_new = call.of_new, .of_old = call.of_old}, call.grids);
}
void finish_sums(const HopView& view, const HopCall& call) { collect_sums(view.launch, view.vectors.n_rhs, call.sums); }

void hop(const HopView& view, const HopCall& call) {
  const HopArguments a = hop_arguments(view, call);
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

// blockIdx.y counts the faces that go somewhere: blocks without work are not free (10 000 of them took 100 us on one
// H200).
template <class Stored>
__global__ void __launch_bounds__(update_threads)
    pack_kernel(LocalSites sites, const Stored* v, int n_rhs, const Faces to, const FaceList list) {
  const int face = list.face[blockIdx.y], V = sites.face_sites[face / 2];
  const int item = int(blockIdx.x) * update_threads + int(threadIdx.x);
  if (item >= V) return;
  const Place place = place_in_face(sites, face, item);
#pragma unroll 1
  for (int rhs = 0; rhs < n_rhs; ++rhs)
    copy_vector(static_cast<Stored*>(to.face[face]) + vector_offset<Stored>(rhs, V), V, item,
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
  const dim3 grid((largest + update_threads - 1) / update_threads, list.count);
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

template <class Stored>
__global__ void __launch_bounds__(update_threads)
    norm2_kernel(const Stored* v, int V, const double* bound, SumCell* cells) {
  const int site = int(blockIdx.x) * update_threads + int(threadIdx.x), rhs = int(blockIdx.y);
  double norm2 = 0;
  if (site < V) {
    Arithmetic<Stored> reals[6];
    load_vector<Caching::plain>(v + vector_offset<Stored>(rhs, V), V, site, reals);
    norm2 = site_norm2(reals);
  }
  ThreadSum sum;
  sum.add(norm2, bound[rhs]);
  flush<update_threads>(sum, bound[rhs], cells + rhs * cells_per_sum);
}

void norm2(const VectorShape& shape, const LaunchContext& launch, const void* v, const SumGrid* grids,
           ExactPartial* sums) {
  send_scalars(launch, shape.n_rhs, {}, grids);
  Scratch* scratch = on_device(launch);
  const dim3 grid((shape.lanes + update_threads - 1) / update_threads, shape.n_rhs);
  with_stored(shape.precision, v, [&](const auto* stored) {
    norm2_kernel<<<grid, update_threads>>>(stored, shape.lanes, scratch->bound, scratch->cells);
  });
  STAGHORN_CUDA_CHECK_LAUNCH(norm2_kernel);
  collect_sums(launch, shape.n_rhs, sums);
}

template <class Real>
__global__ void combine_kernel(long long n, Real alpha, const Real* a, Real beta, Real* b) {
  const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i < n) b[i] = multiply_add(alpha, a[i], beta * b[i]);
}

void combine(Precision precision, std::int64_t n, double alpha, const void* a, double beta, void* b) {
  const unsigned blocks = unsigned((n + update_threads - 1) / update_threads);
  if (precision == Precision::fp64)
    combine_kernel<<<blocks, update_threads>>>(n, alpha, static_cast<const double*>(a), beta, static_cast<double*>(b));
  else
    combine_kernel<<<blocks, update_threads>>>(n, float(alpha), static_cast<const float*>(a), float(beta),
                                               static_cast<float*>(b));
  STAGHORN_CUDA_CHECK_LAUNCH(combine_kernel);
}

__global__ void read_kernel(const longlong2* data, long long n, unsigned long long* sum) {
  long long total = 0;
  for (long long k = blockIdx.x * (long long)blockDim.x + threadIdx.x; k < n; k += (long long)gridDim.x * blockDim.x) {
    const longlong2 word = __ldcs(data + k);
    total += word.x + word.y;
  }
  if (total != 0) atomicAdd(sum, (unsigned long long)total);
}

void read_stream(const void* data, std::int64_t bytes, std::int64_t* sum) {
  read_kernel<<<132 * 16, 512>>>(static_cast<const longlong2*>(data), bytes / 16,
                                 reinterpret_cast<unsigned long long*>(sum));
  STAGHORN_CUDA_CHECK_LAUNCH(read_kernel);
  STAGHORN_CUDA_CHECK(cudaDeviceSynchronize());
}

// The extent in z of the slabs in which hops of many right-hand sides walk a box: a divisor of the box's, from 4 on
// since slabs read each other's edges, such that a slice of all right-hand sides takes at most 3.2 MB. 32^3x64, 16
// right-hand sides, 12 reals, one H200, microseconds a hop with slices of 12.6, 6.3, 3.1 and 1.6 MB: fp64 1016, 929,
// 918, 922; with 6.3, 3.1 and 1.6: fp32 474, 476, 497, 18 reals 507, 505, 524.
int slab_extent(const HopView& view, int box_extent) {
  constexpr std::int64_t most_bytes = 3'200'000;
  const std::int64_t plane = std::int64_t(view.geometry.extents[0]) / 2 * view.geometry.extents[1] *
                             view.vectors.n_rhs * bytes_per_vector(view.vectors.precision);
  int slab = box_extent;
  for (int extent = box_extent; extent >= 4 && slab * plane > most_bytes; --extent)
    if (box_extent % extent == 0) slab = extent;
  return slab;
}

}  // namespace

HopArguments hop_arguments(const HopView& view, const HopCall& call) {
  HopArguments a = hop_arguments(view);
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
  a.of_new = scalars.of_new;
  a.of_old = scalars.of_old;
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

HopArguments hop_arguments(const HopView& view) {
  HopArguments a = {};
  a.links_here = view.links_here;
  a.links_there = view.links_there;
  a.n_rhs = view.vectors.n_rhs;
  LocalSites& s = a.sites;
  s.parity = view.target;
  s.boundary = view.geometry.boundary;
  s.boundary_sites = view.geometry.boundary_sites;
  s.V = view.vectors.lanes;
  const int sites =
      view.geometry.extents[0] / 2 * view.geometry.extents[1] * view.geometry.extents[2] * view.geometry.extents[3];
  s.box_sites = 1;
  for (int mu = 0; mu < 4; ++mu) {
    s.extents[mu] = view.geometry.extents[mu];
    s.strides[mu] = mu == 0 ? 0 : mu == 1 ? s.extents[0] / 2 : s.strides[mu - 1] * s.extents[mu - 1];
    s.cut[mu] = view.geometry.cut[mu];
    s.face_sites[mu] = sites / s.extents[mu];
    s.box_origin[mu] = view.geometry.cut[mu] ? 1 : 0;
    const int box = s.extents[mu] - 2 * s.box_origin[mu], step = mu == 0 ? 2 : 1;  // along x
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
    a.ghost_links[mu] = view.geometry.ghost_links[mu];
    a.cosine[mu] = view.phase[2 * mu][0];
    a.sine[mu] = view.phase[2 * mu][1];
  }
  for (int hop = 0; hop < 8; ++hop) {
    const double theta = view.geometry.theta[hop / 2];
    a.antiperiodic[hop] = view.geometry.at_lattice_edge[hop] && theta == 1;
    a.phase[hop] = view.geometry.at_lattice_edge[hop] && theta != 0 && theta != 1;
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
