#include "solver/cg_kernels.hpp"

#include <cstdlib>
#include <string>

#include "halo/error.hpp"

namespace staghorn {

CgKernels default_cg_kernels() {
  const char* value = std::getenv("STAGHORN_CG_KERNELS");
  const std::string text = value ? value : "auto";
  if (text == "auto") return CgKernels::automatic;
  if (text == "one") return CgKernels::one;
  if (text == "three") return CgKernels::three;
  throw Error("STAGHORN_CG_KERNELS", "auto, one or three", text);
}

bool takes_one_kernel(CgKernels asked, Precision precision, int n_rhs, int n_ranks, std::int64_t local_volume) {
  // Beyond these, sums in a thread would not stay exact (with fewer than 128 multiprocessors: before).
  constexpr std::int64_t most_exact_sites = 1 << 23;
  if (asked == CgKernels::three || precision == Precision::fp16 || n_rhs * local_volume > most_exact_sites)
    return false;
  if (asked == CgKernels::one) return true;
  if (n_rhs > 1) return false;
  // In fp32 it is faster up to these local volumes, in fp64 always: docs/performance.md has the measurements.
  const std::int64_t most_fast_sites = n_ranks == 1 ? 24 * 24 * 24 * 48 : 32 * 32 * 32 * 32;
  return precision == Precision::fp64 || local_volume <= most_fast_sites;
}

}  // namespace staghorn
