// Chooses among the instruction sets that the CPU kernels were built for.
#include "dirac/fields/cuda_conversions.hpp"
#include "dirac/kernels/kernel_table.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

extern const KernelTable cpu_kernels_baseline;
#ifdef STAGHORN_X86
extern const KernelTable cpu_kernels_avx2, cpu_kernels_avx512;
#endif

const KernelTable& cpu_kernels(const std::string& name) {
  std::string available = "auto, baseline";
#ifdef STAGHORN_X86
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  if (avx512 && (name == "auto" || name == "avx512")) return cpu_kernels_avx512;
  if (avx2 && (name == "auto" || name == "avx2")) return cpu_kernels_avx2;
  if (avx2) available += ", avx2";
  if (avx512) available += ", avx512";
#endif
  if (name == "auto" || name == "baseline") return cpu_kernels_baseline;
  throw Error("instruction set", "one this machine has (" + available + ")", "'" + name + "'");
}

#ifndef STAGHORN_CUDA
namespace {
[[noreturn]] void refuse() { throw Error("this build of Staghorn has no CUDA kernels"); }
}  // namespace

void cuda_pack_vectors(Precision, void*, int, int, int, const ColorVector<double>*) { refuse(); }
void cuda_unpack_vectors(Precision, const void*, int, int, int, ColorVector<double>*) { refuse(); }
void cuda_convert_vectors(Precision, void*, Precision, const void*, int, int) { refuse(); }
void cuda_pack_links(Precision, int, void*, int, int, int, int, const ColorMatrix<double>*) { refuse(); }
void cuda_convert_links(Precision, int, void*, const void*, int, int, int) { refuse(); }
const KernelTable& cuda_kernels() { refuse(); }
#endif

}  // namespace staghorn
