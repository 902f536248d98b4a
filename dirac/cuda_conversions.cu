// Vectors and links from one precision or form into another, on the device.
#include <type_traits>

#include "dirac/cuda_access.cuh"
#include "halo/cuda_check.hpp"

namespace staghorn::cuda {

namespace {

constexpr int threads = 256;

// blockIdx.y is the right-hand side.
template <class To, class From>
__global__ void convert_kernel(To* to, const From* from, int V) {
  const int site = int(blockIdx.x) * threads + int(threadIdx.x);
  if (site >= V) return;
  Arithmetic<From> source[6];
  Arithmetic<To> result[6];
  load_vector<Caching::plain>(from + vector_offset<From>(int(blockIdx.y), V), V, site, source);
#pragma unroll
  for (int k = 0; k < 6; ++k) result[k] = Arithmetic<To>(source[k]);
  store_vector(to + vector_offset<To>(int(blockIdx.y), V), V, site, result);
}

// blockIdx.y is the direction.
template <class Stored, int Reals>
__global__ void __launch_bounds__(threads) convert_links_kernel(Stored* to, const double* from, int V, int sites) {
  const int site = int(blockIdx.x) * threads + int(threadIdx.x);
  if (site >= sites) return;
  double reals[18];
  load_object<18, Caching::plain>(from + std::size_t(blockIdx.y) * 18 * V, V, site, reals);
  Stored stored[Reals];
  store_link(link_from_reals<double>(reals), Reals, stored);
  Stored* const link = to + std::size_t(blockIdx.y) * Reals * V;
#pragma unroll
  for (int k = 0; k < Reals; ++k)
    link[SiteLayout::offset_in_words(V, site, k, Reals, word_bytes / int(sizeof(Stored)))] = stored[k];
}

}  // namespace

}  // namespace staghorn::cuda

namespace staghorn {

void cuda_convert_vectors(Precision to_precision, void* to, Precision from_precision, const void* from, int V,
                          int n_rhs) {
  const dim3 grid((V + cuda::threads - 1) / cuda::threads, n_rhs);
  with_stored(to_precision, to, [&](auto* result) {
    with_stored(from_precision, from,
                [&](const auto* source) { cuda::convert_kernel<<<grid, cuda::threads>>>(result, source, V); });
  });
  STAGHORN_CUDA_CHECK_LAUNCH(convert_kernel);
}

void cuda_convert_links(Precision precision, int reals, void* to, const void* from, int V, int sites, int directions) {
  const dim3 grid((sites + cuda::threads - 1) / cuda::threads, directions);
  with_stored(precision, to, [&]<class Stored>(Stored* stored) {
    const auto launch = [&](auto form) {
      cuda::convert_links_kernel<Stored, decltype(form)::value>
          <<<grid, cuda::threads>>>(stored, static_cast<const double*>(from), V, sites);
    };
    if (reals == 18) return launch(std::integral_constant<int, 18>());
    if (reals == 12) return launch(std::integral_constant<int, 12>());
    launch(std::integral_constant<int, 8>());
  });
  STAGHORN_CUDA_CHECK_LAUNCH(convert_links_kernel);
}

}  // namespace staghorn
