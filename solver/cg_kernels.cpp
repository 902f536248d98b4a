#include "solver/cg_kernels.hpp"

#include <cstdlib>
#include <limits>
#include <string>

#include "halo/error.hpp"

namespace staghorn {

namespace {

// Local volumes up to which one kernel was measured to be faster (docs/experiments.md): the fewer bytes a site moves,
// the more threads a multiprocessor needs, and one kernel has fewer.
std::int64_t most_fast_sites(Precision precision, Reconstruct links, bool several_ranks) {
  constexpr std::int64_t small = 24 * 24 * 24 * 48, middle = 32 * 32 * 32 * 32, large = 32 * 32 * 32 * 64;
  if (precision == Precision::fp64) return std::numeric_limits<std::int64_t>::max();
  if (precision == Precision::fp32) return links == Reconstruct::su3_8 ? small : large;
  return links != Reconstruct::row12 ? small : several_ranks ? large : middle;
}

}  // namespace

CgKernels default_cg_kernels() {
  const char* value = std::getenv("STAGHORN_CG_KERNELS");
  const std::string text = value ? value : "auto";
  if (text == "auto") return CgKernels::automatic;
  if (text == "one") return CgKernels::one;
  if (text == "two") return CgKernels::two;
  throw Error("STAGHORN_CG_KERNELS", "auto, one or two", text);
}

bool takes_one_kernel(CgKernels asked, Precision precision, Reconstruct links, int n_rhs, int n_ranks,
                      std::int64_t local_volume) {
  // Beyond these, sums in a thread would not stay exact (with fewer than 128 multiprocessors: before).
  constexpr std::int64_t most_exact_sites = 1 << 23;
  if (asked == CgKernels::two || n_rhs * local_volume > most_exact_sites) return false;
  if (asked == CgKernels::one) return true;
  return n_rhs == 1 && local_volume <= most_fast_sites(precision, links, n_ranks > 1);
}

}  // namespace staghorn
