#include <type_traits>

#include "dirac/algebra/dispatch.hpp"
#include "dirac/algebra/link_forms.hpp"
#include "dirac/fields/cuda_conversions.hpp"
#include "dirac/fields/cuda_words.cuh"
#include "dirac/fields/plain_sites.cuh"
#include "dirac/fields/site_layout.hpp"
#include "halo/cuda/cuda_check.hpp"

namespace staghorn::cuda {

namespace {

constexpr int threads = 128;

// The type that atomics take.
unsigned long long* counter(std::uint64_t* place) { return reinterpret_cast<unsigned long long*>(place); }

int blocks_for(int items) { return (items + threads - 1) / threads; }

// A block's plain objects lie together, so that its threads move them in whole lines, which matters across the bus.
template <class Object>
struct BlockOfPlain {
  static constexpr int words = sizeof(Object) / sizeof(double2);
  double2 word[words * threads];

  __device__ __forceinline__ double* object(int k) { return reinterpret_cast<double*>(word + words * k); }
  // The first `count` from and to `plain`, by all threads.
  __device__ __forceinline__ void load(const Object* plain, int count) {
    const double2* from = reinterpret_cast<const double2*>(plain);
    for (int k = threadIdx.x; k < words * count; k += threads) word[k] = from[k];
    __syncthreads();
  }
  __device__ __forceinline__ void store(Object* plain, int count) {
    __syncthreads();
    double2* to = reinterpret_cast<double2*>(plain);
    for (int k = threadIdx.x; k < words * count; k += threads) to[k] = word[k];
  }
};

template <class Stored>
__global__ void __launch_bounds__(threads)
    pack_vectors_kernel(Stored* to, int V, int first, int count, const ColorVector<double>* plain) {
  __shared__ BlockOfPlain<ColorVector<double>> block;
  const int begin = int(blockIdx.x) * threads, here = min(threads, count - begin), k = int(threadIdx.x);
  block.load(plain + begin, here);
  if (k >= here) return;
  Arithmetic<Stored> v[6];
#pragma unroll
  for (int i = 0; i < 6; ++i) v[i] = Arithmetic<Stored>(block.object(k)[i]);
  store_vector(to, V, first + begin + k, v);
}

template <class Stored>
__global__ void __launch_bounds__(threads)
    unpack_vectors_kernel(const Stored* from, int V, int first, int count, ColorVector<double>* plain) {
  __shared__ BlockOfPlain<ColorVector<double>> block;
  const int begin = int(blockIdx.x) * threads, here = min(threads, count - begin), k = int(threadIdx.x);
  if (k < here) {
    Arithmetic<Stored> v[6];
    load_vector<Caching::plain>(from, V, first + begin + k, v);
#pragma unroll
    for (int i = 0; i < 6; ++i) block.object(k)[i] = double(v[i]);
  }
  block.store(plain + begin, here);
}

// blockIdx.y is the right-hand side.
template <class To, class From>
__global__ void __launch_bounds__(threads) convert_vectors_kernel(To* to, const From* from, int V) {
  const int site = int(blockIdx.x) * threads + int(threadIdx.x);
  if (site >= V) return;
  Arithmetic<From> source[6];
  Arithmetic<To> result[6];
  load_vector<Caching::plain>(from + vector_offset<From>(int(blockIdx.y), V), V, site, source);
#pragma unroll
  for (int k = 0; k < 6; ++k) result[k] = Arithmetic<To>(source[k]);
  store_vector(to + vector_offset<To>(int(blockIdx.y), V), V, site, result);
}

// Compresses the link of one direction and puts it into its words. misfit: see cuda_pack_links.
template <int Reals, class Stored>
__device__ __forceinline__ void put_link(Stored* to, int V, int direction, int slot, const double (&reals)[18],
                                         unsigned long long* misfit) {
  constexpr int word = word_bytes / int(sizeof(Stored));
  Stored stored[Reals];
  const bool fits = store_link(link_from_reals<double>(reals), Reals, stored);
  if (!fits && misfit) atomicMax(misfit, ~(4ull * unsigned(slot) + unsigned(direction)));
  Stored* const link = to + std::size_t(direction) * Reals * V;
#pragma unroll
  for (int k = 0; k < Reals; ++k) link[SiteLayout::offset_in_words(V, slot, k, Reals, word)] = stored[k];
}

template <class Stored, int Reals>
__global__ void __launch_bounds__(threads)
    pack_links_kernel(Stored* to, int V, int first, int count, int directions, const ColorMatrix<double>* plain,
                      unsigned long long* misfit) {
  __shared__ BlockOfPlain<ColorMatrix<double>> block;
  const int slots = threads / directions, begin = int(blockIdx.x) * slots, here = min(slots, count - begin);
  block.load(plain + std::size_t(begin) * directions, here * directions);
  const int slot = int(threadIdx.x) % slots, direction = int(threadIdx.x) / slots;  // words of a warp lie together
  if (slot >= here) return;
  double reals[18];
#pragma unroll
  for (int i = 0; i < 18; ++i) reals[i] = block.object(slot * directions + direction)[i];
  put_link<Reals>(to, V, direction, first + begin + slot, reals, misfit);
}

// A block takes 32 sites with four links each. Bytes per site: 576 read, and what is stored.
template <class Stored, int Reals>
__global__ void __launch_bounds__(threads)
    pack_link_field_kernel(Stored* to, int V, unsigned count, const double2* links, Rows rows, unsigned parity,
                           double factor, unsigned long long* misfit) {
  constexpr int slots = threads / 4, words = BlockOfPlain<Links>::words;
  __shared__ BlockOfPlain<ColorMatrix<double>> block;
  __shared__ unsigned sites[slots];
  const unsigned begin = blockIdx.x * slots;
  const int here = int(min(unsigned(slots), count - begin));
  if (int(threadIdx.x) < here) sites[threadIdx.x] = site_of(begin + threadIdx.x, parity, rows);
  __syncthreads();
  for (int k = threadIdx.x; k < words * here; k += threads) {
    const double2 word = links[std::size_t(sites[k / words]) * words + std::size_t(k % words)];
    block.word[k] = make_double2(factor * word.x, factor * word.y);
  }
  __syncthreads();
  const int slot = int(threadIdx.x) % slots, direction = int(threadIdx.x) / slots;
  if (slot >= here) return;
  double reals[18];
#pragma unroll
  for (int i = 0; i < 18; ++i) reals[i] = block.object(slot * 4 + direction)[i];
  put_link<Reals>(to, V, direction, int(begin) + slot, reals, misfit);
}

// blockIdx.y is the direction.
template <class Stored, int Reals>
__global__ void __launch_bounds__(threads)
    convert_links_kernel(Stored* to, const double* from, int V, int count, double factor, unsigned long long* misfit) {
  const int slot = int(blockIdx.x) * threads + int(threadIdx.x);
  if (slot >= count) return;
  double reals[18];
  load_object<18, Caching::plain>(from + std::size_t(blockIdx.y) * 18 * V, V, slot, reals);
#pragma unroll
  for (int i = 0; i < 18; ++i) reals[i] *= factor;
  put_link<Reals>(to, V, int(blockIdx.y), slot, reals, misfit);
}

}  // namespace

}  // namespace staghorn::cuda

namespace staghorn {

void cuda_pack_vectors(Precision precision, void* to, int V, int first, int count, const ColorVector<double>* plain) {
  with_stored(precision, to, [&](auto* stored) {
    cuda::pack_vectors_kernel<<<cuda::blocks_for(count), cuda::threads>>>(stored, V, first, count, plain);
  });
  STAGHORN_CUDA_CHECK_LAUNCH(pack_vectors_kernel);
}

void cuda_unpack_vectors(Precision precision, const void* from, int V, int first, int count,
                         ColorVector<double>* plain) {
  with_stored(precision, from, [&](const auto* stored) {
    cuda::unpack_vectors_kernel<<<cuda::blocks_for(count), cuda::threads>>>(stored, V, first, count, plain);
  });
  STAGHORN_CUDA_CHECK_LAUNCH(unpack_vectors_kernel);
}

void cuda_convert_vectors(Precision to_precision, void* to, Precision from_precision, const void* from, int V,
                          int n_rhs) {
  const dim3 grid(cuda::blocks_for(V), n_rhs);
  with_stored(to_precision, to, [&](auto* result) {
    with_stored(from_precision, from,
                [&](const auto* source) { cuda::convert_vectors_kernel<<<grid, cuda::threads>>>(result, source, V); });
  });
  STAGHORN_CUDA_CHECK_LAUNCH(convert_vectors_kernel);
}

void cuda_pack_links(Precision precision, Reconstruct reconstruct, void* to, int V, int first, int count,
                     int directions, const ColorMatrix<double>* plain, std::uint64_t* misfit) {
  with_stored(precision, to, [&]<class Stored>(Stored* stored) {
    with_link_form(reconstruct, [&]<int Reals>(std::integral_constant<int, Reals>) {
      cuda::pack_links_kernel<Stored, Reals><<<cuda::blocks_for(count * directions), cuda::threads>>>(
          stored, V, first, count, directions, plain, cuda::counter(misfit));
    });
  });
  STAGHORN_CUDA_CHECK_LAUNCH(pack_links_kernel);
}

void cuda_pack_link_field(Precision precision, Reconstruct reconstruct, void* to, int V, Parity parity,
                          const LinkField& links, double factor, std::uint64_t* misfit) {
  const unsigned count = unsigned(links.size() / 2);
  const auto* from = reinterpret_cast<const double2*>(links.data());
  with_stored(precision, to, [&]<class Stored>(Stored* stored) {
    with_link_form(reconstruct, [&]<int Reals>(std::integral_constant<int, Reals>) {
      cuda::pack_link_field_kernel<Stored, Reals>
          <<<(count + 31) / 32, cuda::threads>>>(stored, V, count, from, cuda::rows_of(links.lattice().local()),
                                                 unsigned(parity), factor, cuda::counter(misfit));
    });
  });
  STAGHORN_CUDA_CHECK_LAUNCH(pack_link_field_kernel);
}

void cuda_convert_links(Precision precision, Reconstruct reconstruct, void* to, const void* from, int V, int count,
                        int directions, double factor, std::uint64_t* misfit) {
  const dim3 grid(cuda::blocks_for(count), directions);
  with_stored(precision, to, [&]<class Stored>(Stored* stored) {
    with_link_form(reconstruct, [&]<int Reals>(std::integral_constant<int, Reals>) {
      cuda::convert_links_kernel<Stored, Reals>
          <<<grid, cuda::threads>>>(stored, static_cast<const double*>(from), V, count, factor, cuda::counter(misfit));
    });
  });
  STAGHORN_CUDA_CHECK_LAUNCH(convert_links_kernel);
}

}  // namespace staghorn
