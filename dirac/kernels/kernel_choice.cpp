// Chooses among the instruction sets for which the CPU kernels were built.
#include <vector>

#if defined(__aarch64__)
#include <sys/auxv.h>
#include <sys/prctl.h>
#endif

#include "dirac/fields/cuda_conversions.hpp"
#include "dirac/kernels/kernel_table.hpp"
#include "dirac/kernels/rank_layouts.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/surroundings.hpp"

namespace staghorn {

extern const KernelTable cpu_kernels_baseline;
extern const KernelTable cpu_kernels_avx2, cpu_kernels_avx512;
extern const KernelTable cpu_kernels_sve256, cpu_kernels_sve512;

namespace {

#if defined(__aarch64__)
// The bytes of a register of SVE, as the kernel has set them for this process; 0 without SVE.
[[maybe_unused]] int sve_bytes() {
  if (!(getauxval(AT_HWCAP) & HWCAP_SVE)) return 0;
  const int found = prctl(PR_SVE_GET_VL);
  return found < 0 ? 0 : found & PR_SVE_VL_LEN_MASK;
}
#endif

// The CPU kernels of this build (STAGHORN_INSTRUCTION_SETS of CMake) that this machine can run, the fastest first.
std::vector<const KernelTable*> kernels_that_run() {
  std::vector<const KernelTable*> found;
#ifdef STAGHORN_KERNELS_AVX512
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
    found.push_back(&cpu_kernels_avx512);
#endif
#ifdef STAGHORN_KERNELS_AVX2
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) found.push_back(&cpu_kernels_avx2);
#endif
#ifdef STAGHORN_KERNELS_SVE512
  if (sve_bytes() == cpu_kernels_sve512.vector_bytes) found.push_back(&cpu_kernels_sve512);
#endif
#ifdef STAGHORN_KERNELS_SVE256
  if (sve_bytes() == cpu_kernels_sve256.vector_bytes) found.push_back(&cpu_kernels_sve256);
#endif
#ifdef STAGHORN_KERNELS_BASELINE
  found.push_back(&cpu_kernels_baseline);
#endif
  return found;
}

}  // namespace

const KernelTable& cpu_kernels(const std::string& asked) {
  const char* usual = asked == "auto" ? environment_variable("STAGHORN_CPU_KERNELS") : nullptr;
  const std::string name = usual && *usual ? usual : asked;
  std::string names = "auto";
  for (const KernelTable* kernels : kernels_that_run()) {
    if (name == "auto" || name == kernels->name) return *kernels;
    names += std::string(", ") + kernels->name;
  }
  if (kernels_that_run().empty())
    throw Error(
        "instruction set", "a machine like the one for which this program was built",
        "a machine that cannot run its CPU kernels (-DSTAGHORN_INSTRUCTION_SETS=all builds those of all machines)");
  throw Error("instruction set", "one of this build that this machine can run (" + names + ")", "'" + name + "'");
}

bool layouts_differ(const Communicator& communicator, const KernelTable& kernels) {
  if (communicator.size() == 1) return false;
  const double bytes = kernels.vector_bytes;
  return communicator.max(bytes) != -communicator.max(-bytes);
}

#ifndef STAGHORN_CUDA
namespace {
[[noreturn]] void refuse() { throw Error("this build of Staghorn has no CUDA kernels"); }
}  // namespace

void cuda_pack_vectors(Precision, void*, int, int, int, const ColorVector<double>*) { refuse(); }
void cuda_unpack_vectors(Precision, const void*, int, int, int, ColorVector<double>*) { refuse(); }
void cuda_convert_vectors(Precision, void*, Precision, const void*, int, int) { refuse(); }
void cuda_pack_links(Precision, Reconstruct, void*, int, int, int, int, const ColorMatrix<double>*, std::uint64_t*) {
  refuse();
}
void cuda_pack_link_field(Precision, Reconstruct, void*, int, Parity, const LinkField&, double, std::uint64_t*) {
  refuse();
}
void cuda_convert_links(Precision, Reconstruct, void*, const void*, int, int, int, double, std::uint64_t*) { refuse(); }
const KernelTable& cuda_kernels() { refuse(); }
#endif

}  // namespace staghorn
