#include "solver/krylov/loop_form.hpp"

#include <cstdlib>

#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

// Local volumes up to which one kernel was measured to be faster, and beyond which it is the wide one
// (decision 006).
constexpr std::int64_t most_fast_sites = 32 * 32 * 32 * 64, most_narrow_sites = 24 * 24 * 24 * 48;

}  // namespace

std::string to_string(LoopForm form) {
  switch (form) {
    case LoopForm::host:
      return "host";
    case LoopForm::two_kernels:
      return "two kernels";
    case LoopForm::one_kernel:
      return "one kernel";
    case LoopForm::wide_kernel:
      return "wide kernel";
    case LoopForm::nccl:
      return "nccl";
    case LoopForm::cublas:
      return "cublas";
  }
  throw Error("unknown form of the loop");
}

LoopChoice default_loop_choice() {
  const char* value = std::getenv("STAGHORN_CG_KERNELS");
  const std::string text = value ? value : "auto";
  if (text == "auto") return LoopChoice::automatic;
  if (text == "one") return LoopChoice::one;
  if (text == "wide") return LoopChoice::wide;
  if (text == "two") return LoopChoice::two;
  throw Error("STAGHORN_CG_KERNELS", "auto, one, wide or two", text);
}

bool takes_one_kernel(LoopChoice asked, Precision precision, int n_rhs, std::int64_t local_volume) {
  // With more sites the sums in a thread would not stay exact. On GPUs with fewer than 128 multiprocessors that begins
  // with fewer sites; can_be_one_kernel finds it there.
  constexpr std::int64_t most_exact_sites = 1 << 23;
  if (asked == LoopChoice::two || n_rhs * local_volume > most_exact_sites) return false;
  if (asked != LoopChoice::automatic) return true;
  return n_rhs == 1 && (precision == Precision::fp64 || local_volume <= most_fast_sites);
}

bool takes_wide_kernel(LoopChoice asked, std::int64_t local_volume) {
  return asked == LoopChoice::wide || local_volume > most_narrow_sites;
}

}  // namespace staghorn
