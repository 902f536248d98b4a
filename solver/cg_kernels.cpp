#include "solver/cg_kernels.hpp"

#include <cstdlib>
#include <string>

#include "halo/error.hpp"

namespace staghorn {

namespace {

// Local volumes up to which one kernel was measured to be faster in fp32 (docs/performance.md): the fewer bytes a site
// moves, the more it matters that a hop gathers two vectors.
std::int64_t most_fast_sites(Reconstruct links, bool several_ranks) {
  constexpr std::int64_t small = 24 * 24 * 24 * 48, middle = 32 * 32 * 32 * 32, large = 32 * 32 * 32 * 64;
  switch (links) {
    case Reconstruct::none18:
      return large;
    case Reconstruct::row12:
      return several_ranks ? large : middle;
    case Reconstruct::su3_8:
      return several_ranks ? middle : small;
  }
  return 0;
}

}  // namespace

CgKernels default_cg_kernels() {
  const char* value = std::getenv("STAGHORN_CG_KERNELS");
  const std::string text = value ? value : "auto";
  if (text == "auto") return CgKernels::automatic;
  if (text == "one") return CgKernels::one;
  if (text == "three") return CgKernels::three;
  throw Error("STAGHORN_CG_KERNELS", "auto, one or three", text);
}

bool takes_one_kernel(CgKernels asked, Precision precision, Reconstruct links, int n_rhs, int n_ranks,
                      std::int64_t local_volume) {
  // Beyond these, sums in a thread would not stay exact (with fewer than 128 multiprocessors: before).
  constexpr std::int64_t most_exact_sites = 1 << 23;
  if (asked == CgKernels::three || precision == Precision::fp16 || n_rhs * local_volume > most_exact_sites)
    return false;
  if (asked == CgKernels::one) return true;
  if (n_rhs > 1) return false;
  return precision == Precision::fp64 || local_volume <= most_fast_sites(links, n_ranks > 1);
}

}  // namespace staghorn
