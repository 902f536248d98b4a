// Finds the kernels on many vectors that belong to a table of kernels.
#include <string_view>

#include "dirac/kernels/kernel_table.hpp"
#include "dirac/kernels/vector_kernels.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

extern const VectorKernels cpu_vector_kernels_baseline, cpu_vector_kernels_avx2, cpu_vector_kernels_avx512,
    cpu_vector_kernels_sve256, cpu_vector_kernels_sve512, cuda_vector_kernels;

const VectorKernels& vector_kernels(const KernelTable& kernels) {
  [[maybe_unused]] const std::string_view name = kernels.name;
#ifdef STAGHORN_KERNELS_AVX512
  if (name == "avx512") return cpu_vector_kernels_avx512;
#endif
#ifdef STAGHORN_KERNELS_AVX2
  if (name == "avx2") return cpu_vector_kernels_avx2;
#endif
#ifdef STAGHORN_KERNELS_BASELINE
  if (name == "baseline") return cpu_vector_kernels_baseline;
#endif
#ifdef STAGHORN_KERNELS_SVE512
  if (name == "sve512") return cpu_vector_kernels_sve512;
#endif
#ifdef STAGHORN_KERNELS_SVE256
  if (name == "sve256") return cpu_vector_kernels_sve256;
#endif
#ifdef STAGHORN_CUDA
  if (name == "cuda") return cuda_vector_kernels;
#endif
  throw Error("kernels on many vectors", "those of a known table", kernels.name);
}

}  // namespace staghorn
