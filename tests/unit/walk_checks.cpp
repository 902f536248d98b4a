// How blocks share the chunks of a range on a GPU (dirac/kernels/cuda/cuda_walk.cuh), how they find sites
// (cuda_sites.cuh), what their threads add up (cuda_sums.cuh), and chains of fma by a warp (cuda_fma_chains.cuh).
// Compiled as CUDA where there is nvcc.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "halo/cuda/cuda_device.hpp"
#include "tests/unit/unit_checks.hpp"

#ifdef __CUDACC__
#include "dirac/kernels/cuda/cuda_hop.cuh"
#include "dirac/kernels/cuda/products/cuda_fma_chains.cuh"
#include "halo/buffer.hpp"
#endif

namespace staghorn {

namespace {

#ifdef __CUDACC__
constexpr int teams = 4;
constexpr int team_threads = 64;

// Every thread counts its visits to each chunk, and the visits of its team. The first team is late.
template <int n_teams>
__global__ void visit(const cuda::SharedRange range, unsigned* taken, int* visits, int* of_team) {
  using Walk = cuda::Walk<team_threads, n_teams, true>;
  Walk::prepare();
  __syncthreads();
  const int team = int(threadIdx.x) / team_threads, number = int(blockIdx.x) + int(gridDim.x) * team;
  for (Walk at(range, number, taken); at.more(); at.advance()) {
    if (number == 0)
      for (int k = 0; k < 20; ++k) __nanosleep(100000);
    atomicAdd(visits + at.chunk(), 1);
    atomicAdd(of_team + number, 1);
  }
}

// There are as many chunks as keep the sums of all threads exact. So the other teams must leave some to the late team.
template <int n_teams>
bool all_chunks_are_visited_once(int blocks, int chunks) {
  const int stride = blocks * n_teams, most = cuda::ThreadSum::few_contributions;
  Buffer taken(sizeof(unsigned), MemorySpace::cuda), visits(std::size_t(chunks) * sizeof(int), MemorySpace::cuda),
      of_team(std::size_t(stride) * sizeof(int), MemorySpace::cuda);
  visit<n_teams><<<blocks, n_teams * team_threads>>>(
      cuda::share_range({.count = chunks, .listed = 0, .box_first = 0, .step = 1}, stride, 4),
      reinterpret_cast<unsigned*>(taken.data()), reinterpret_cast<int*>(visits.data()),
      reinterpret_cast<int*>(of_team.data()));
  STAGHORN_CUDA_CHECK_LAUNCH(visit);
  std::vector<int> visited(std::size_t(chunks), 0), worked(std::size_t(stride), 0);
  cuda::copy_to_host(visited.data(), visits.data(), visits.bytes());
  cuda::copy_to_host(worked.data(), of_team.data(), of_team.bytes());
  const auto [least, busiest] = std::minmax_element(worked.begin(), worked.end());
  std::printf("%d chunks, %d teams: between %d and %d each\n", chunks, stride, *least / team_threads,
              *busiest / team_threads);
  return std::all_of(visited.begin(), visited.end(), [](int n) { return n == team_threads; }) &&
         *busiest <= most * team_threads;
}

template <int n_teams>
bool check_walk() {
  bool good = true;
  for (const int chunks : {1, 7, 8, 9, 100, 64 * 8 - 3, 64 * 8})
    good = all_chunks_are_visited_once<n_teams>(8 / n_teams, chunks) && good;
  return good;
}

// The numbers lie close to each multiple of the divisor, and close to 2^31.
__global__ void divide(int divisor, const cuda::Divisor by, int* wrong) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, most = 0x7fffffff;
  const unsigned about = unsigned(((unsigned long long)thread * (most / (gridDim.x * blockDim.x))) / divisor * divisor);
  for (const unsigned number : {thread, about - 1, about, about + 1, most - thread}) {
    if (number > most) continue;
    int rest = int(number);
    const int digit = by.take_digit(rest);
    if (digit != int(number) % divisor || rest != int(number) / divisor) atomicAdd(wrong, 1);
  }
}

bool check_division() {
  Buffer wrong(sizeof(int), MemorySpace::cuda);
  std::vector<int> divisors = {0x7fffffff, 0x7ffffffe, 0x40000001, 0x40000000, 0x3fffffff,
                               65535,      65536,      65537,      1000003};
  for (int divisor = 1; divisor <= 400; ++divisor) divisors.push_back(divisor);
  for (const int divisor : divisors) {
    divide<<<512, 256>>>(divisor, cuda::Divisor(divisor), reinterpret_cast<int*>(wrong.data()));
    STAGHORN_CUDA_CHECK_LAUNCH(divide);
  }
  int found = 0;
  cuda::copy_to_host(&found, wrong.data(), sizeof found);
  std::printf("%zu divisors: %d wrong\n", divisors.size(), found);
  return found == 0;
}

// Counts each site of the box up in the order of slabs, and down in the other order.
__global__ void find_in_slabs(const cuda::LocalSites sites, int* times) {
  const int number = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (number >= sites.box_sites) return;
  atomicAdd(times + cuda::place_of<false, true>(sites, number).site, 1);
  atomicAdd(times + cuda::place_of<false>(sites, number).site, -1);
}

// A slice of these lattices with 16 right-hand sides is larger than a slab may be.
bool check_slabs() {
  bool good = true;
  using Cut = std::array<bool, 4>;
  for (const auto& [cut, depth] : {std::pair(Cut{}, 1), std::pair(Cut{true, true, false, true}, 1), std::pair(Cut{}, 3),
                                   std::pair(Cut{true, true, false, true}, 3)})
    for (const int target : {0, 1}) {
      HopView view;
      view.geometry.extents = {32, 34, 24, 8};
      view.geometry.depth = depth;
      view.vectors.lanes = 32 * 34 * 24 * 8 / 2;
      view.vectors.n_rhs = 16;
      view.geometry.cut = cut;
      view.target = target;
      const cuda::LocalSites sites = cuda::hop_arguments(view).sites;
      Buffer times(std::size_t(sites.V) * sizeof(int), MemorySpace::cuda);
      find_in_slabs<<<cuda::chunks_of(sites.box_sites, 128), 128>>>(sites, reinterpret_cast<int*>(times.data()));
      STAGHORN_CUDA_CHECK_LAUNCH(find_in_slabs);
      std::vector<int> found(std::size_t(sites.V), 1);
      cuda::copy_to_host(found.data(), times.data(), times.bytes());
      std::printf("slabs of %d in z\n", sites.slab);
      good = good && sites.slab == 6 && std::all_of(found.begin(), found.end(), [](int n) { return n == 0; });
    }
  return good;
}

// Counts places whose coordinates do not belong to the face, its slice and the item, and how often a site is met.
__global__ void find_in_faces(const cuda::LocalSites sites, int face, int* wrong, int* times) {
  const int mu = face / 2, in_slice = sites.face_sites[mu], slice = int(blockIdx.y),
            item = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (item >= in_slice) return;
  const cuda::Place place = cuda::place_in_face(sites, face, slice, item);
  const int x_mu = face % 2 == 0 ? slice : sites.extents[mu] - 1 - slice;
  int sum = 0;
  for (int nu = 0; nu < 4; ++nu) {
    sum += place.x[nu];
    if (place.x[nu] < 0 || place.x[nu] >= sites.extents[nu]) return void(atomicAdd(wrong, 1));
  }
  if (place.x[mu] != x_mu || place.in_face(sites, mu) != item || (sum + sites.parity) % 2 != 0 ||
      place.site != cuda::site_at(sites, place.x))
    return void(atomicAdd(wrong, 1));
  atomicAdd(times + place.site, 1);
}

// Faces of one slice and of three; at extent 4 the three slices of both faces overlap.
bool check_faces() {
  bool good = true;
  for (const int depth : {1, 3})
    for (const int parity : {0, 1})
      for (int face = 0; face < 8; ++face) {
        HopView view;
        view.geometry.extents = {8, 4, 6, 10};
        view.geometry.cut = {true, true, true, true};
        view.geometry.depth = depth;
        view.vectors.lanes = 8 * 4 * 6 * 10 / 2;
        view.target = parity;
        const cuda::LocalSites sites = cuda::hop_arguments(view).sites;
        const int in_slice = sites.face_sites[face / 2];
        Buffer wrong(sizeof(int), MemorySpace::cuda), times(std::size_t(sites.V) * sizeof(int), MemorySpace::cuda);
        find_in_faces<<<dim3(unsigned(cuda::chunks_of(in_slice, 64)), unsigned(depth)), 64>>>(
            sites, face, reinterpret_cast<int*>(wrong.data()), reinterpret_cast<int*>(times.data()));
        STAGHORN_CUDA_CHECK_LAUNCH(find_in_faces);
        int found = 0;
        std::vector<int> met(std::size_t(sites.V), 0);
        cuda::copy_to_host(&found, wrong.data(), sizeof found);
        cuda::copy_to_host(met.data(), times.data(), times.bytes());
        good = good && found == 0 && std::count(met.begin(), met.end(), 1) == depth * in_slice &&
               *std::max_element(met.begin(), met.end()) == 1;
      }
  return good;
}

constexpr int sum_threads = 128;

// A number close to the bound, with bits in the last places of both limbs.
__host__ __device__ double contribution(double bound, int thread, int k) {
  return bound * (1 - 0x1p-50 * ((thread * 7919 + k * 104729) % 65536));
}

// lanes: how many neighbouring threads have a sum of their own. 0: the block has one sum; few_of_block: of few
// contributions.
constexpr int few_of_block = -1;
template <int lanes>
__global__ void add_up(double bound, int contributions, cuda::SumCell* cells) {
  cuda::ThreadSum sum;
  for (int k = 0; k < contributions; ++k) sum.add(contribution(bound, int(threadIdx.x), k), bound);
  if constexpr (lanes > 0)
    cuda::flush_lanes<lanes>(sum, bound, cells);
  else if constexpr (lanes == 0)
    cuda::flush<sum_threads>(sum, bound, cells);
  else if (const auto share = cuda::block_share<sum_threads, true>(sum, bound); threadIdx.x == 0)
    cuda::add_share(cells[0], share);
}

// A thread adds as many contributions as it may, each as large as it may be. The sum must be the host's.
template <int lanes>
bool sums_of_threads_are_exact(int contributions) {
  const SumGrid grid = SumGrid::for_bound(3.0);
  ExactPartial expected, found;
  for (int thread = 0; thread < sum_threads; ++thread)
    for (int k = 0; k < contributions; ++k) expected.add(contribution(grid.bound, thread, k), grid);
  Buffer buffer(cuda::cells_per_sum * sizeof(cuda::SumCell), MemorySpace::cuda);
  add_up<lanes><<<1, sum_threads>>>(grid.bound, contributions, reinterpret_cast<cuda::SumCell*>(buffer.data()));
  STAGHORN_CUDA_CHECK_LAUNCH(add_up);
  std::vector<cuda::SumCell> cells(cuda::cells_per_sum);
  cuda::copy_to_host(cells.data(), buffer.data(), buffer.bytes());
  for (const cuda::SumCell& cell : cells) {
    found.total += (__int128(cell.high) << 42) + cell.low;
    found.overflow |= cell.overflow != 0;
  }
  std::printf("%d contributions a thread: off by %lld units\n", contributions,
              (long long)(found.total - expected.total));
  return !found.overflow && !expected.overflow && found.total == expected.total;
}

bool check_sums() {
  const bool of_few = sums_of_threads_are_exact<few_of_block>(cuda::ThreadSum::few_contributions);
  const bool of_blocks = sums_of_threads_are_exact<0>(cuda::ThreadSum::max_contributions);
  const bool of_halves = sums_of_threads_are_exact<16>(cuda::ThreadSum::max_contributions);
  const bool of_warps = sums_of_threads_are_exact<64>(cuda::ThreadSum::max_contributions);
  return of_few && of_blocks && of_halves && of_warps;
}

// c += a b of a 16 x 8 by an 8 x 8 matrix, in the layout of cuda_fma_chains.cuh.
struct Matrices {
  double a[16][8], b[8][8], c[16][8];
};
template <cuda::ChainBy by>
__global__ void multiply(Matrices* matrices) {
  const int g = int(threadIdx.x) / 4, t = int(threadIdx.x) % 4;
  auto& [a, b, c] = *matrices;
  const double left[4] = {a[g][t], a[g + 8][t], a[g][t + 4], a[g + 8][t + 4]}, right[2] = {b[t][g], b[t + 4][g]};
  double sums[4] = {c[g][2 * t], c[g][2 * t + 1], c[g + 8][2 * t], c[g + 8][2 * t + 1]};
  cuda::add_products<by>(sums, left, right);
  c[g][2 * t] = sums[0], c[g][2 * t + 1] = sums[1], c[g + 8][2 * t] = sums[2], c[g + 8][2 * t + 1] = sums[3];
}

// Compares with the host, where the numbers are of many sizes, so that each order of adding gives other bits.
template <cuda::ChainBy by>
bool matrices_have_the_bits_of_the_host() {
  Matrices host;
  RandomStream random = test_stream(1);
  for (double* number = &host.a[0][0]; number < &host.c[0][0] + 16 * 8; ++number)
    *number = std::ldexp(complex_gaussian(random).re, int(random.bits() % 24));
  Buffer buffer(sizeof host, MemorySpace::cuda);
  cuda::copy_to_device(buffer.data(), &host, sizeof host);
  multiply<by><<<1, 32>>>(reinterpret_cast<Matrices*>(buffer.data()));
  STAGHORN_CUDA_CHECK_LAUNCH(multiply);
  Matrices found;
  cuda::copy_to_host(&found, buffer.data(), sizeof found);
  int different = 0;
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 8; ++j) {
      for (int k = 0; k < 8; ++k) host.c[i][j] = std::fma(host.a[i][k], host.b[k][j], host.c[i][j]);
      different += host.c[i][j] != found.c[i][j];
    }
  std::printf("%d of 128 sums differ\n", different);
  return different == 0;
}

bool check_chains() {
  if (!matrices_have_the_bits_of_the_host<cuda::ChainBy::shuffles>()) return false;
  if (cuda::tensor_cores_make_chains()) return matrices_have_the_bits_of_the_host<cuda::ChainBy::tensor_cores>();
  std::printf("tensor cores round otherwise, or there are none\n");
  return true;
}

template <bool (*check)()>
Verdict on_gpu() {
  if (cuda::device_count() == 0) {
    std::printf("no GPU\n");
    return Verdict::cannot_run;
  }
  cuda::select_device(0);
  return check() ? Verdict::holds : Verdict::fails;
}
#define STAGHORN_ON_GPU(...) on_gpu<__VA_ARGS__>
#else
Verdict without_cuda() {
  std::printf("a build without CUDA\n");
  return Verdict::cannot_run;
}
#define STAGHORN_ON_GPU(...) without_cuda
#endif

}  // namespace

std::vector<UnitCheck> walk_checks() {
  return {{"blocks_visit_each_chunk_once", STAGHORN_ON_GPU(check_walk<1>)},
          {"teams_visit_each_chunk_once", STAGHORN_ON_GPU(check_walk<teams>)},
          {"digits_are_those_of_division", STAGHORN_ON_GPU(check_division)},
          {"slabs_hold_each_site_once", STAGHORN_ON_GPU(check_slabs)},
          {"faces_hold_each_site_once", STAGHORN_ON_GPU(check_faces)},
          {"sums_of_threads_are_exact", STAGHORN_ON_GPU(check_sums)},
          {"matrices_of_a_warp_are_chains_of_fma", STAGHORN_ON_GPU(check_chains)}};
}

}  // namespace staghorn
