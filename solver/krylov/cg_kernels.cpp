#include "solver/krylov/cg_kernels.hpp"

#include <cstdlib>
#include <string>

#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

// Local volumes up to which one kernel was measured to be faster, and from beyond which it is a wide one
// (docs/experiments.md).
constexpr std::int64_t most_fast_sites = 32 * 32 * 32 * 64, most_narrow_sites = 24 * 24 * 24 * 48;

}  // namespace

CgKernels default_cg_kernels() {
  const char* value = std::getenv("STAGHORN_CG_KERNELS");
  const std::string text = value ? value : "auto";
  if (text == "auto") return CgKernels::automatic;
  if (text == "one") return CgKernels::one;
  if (text == "wide") return CgKernels::wide;
  if (text == "two") return CgKernels::two;
  throw Error("STAGHORN_CG_KERNELS", "auto, one, wide or two", text);
}

bool takes_one_kernel(CgKernels asked, Precision precision, int n_rhs, std::int64_t local_volume) {
  // Beyond these, sums in a thread would not stay exact (with fewer than 128 multiprocessors: before).
  constexpr std::int64_t most_exact_sites = 1 << 23;
  if (asked == CgKernels::two || n_rhs * local_volume > most_exact_sites) return false;
  if (asked != CgKernels::automatic) return true;
  return n_rhs == 1 && (precision == Precision::fp64 || local_volume <= most_fast_sites);
}

bool takes_wide_kernel(CgKernels asked, std::int64_t local_volume) {
  return asked == CgKernels::wide || local_volume > most_narrow_sites;
}

}  // namespace staghorn
