// The forms of the loop of Conjugate Gradient (README.md), and the rule that chooses among those on GPUs: one rule for
// the loop and for the machine model. The result never depends on the form, but for `cublas`.
#pragma once

#include <cstdint>
#include <string>

namespace staghorn {

// What a loop ran as.
//   host         scalars on the host: on a CPU, or on a GPU whose faces need the host
//   two_kernels  two kernels an iteration, scalars on the GPU
//   one_kernel   one kernel for many iterations
//   wide_kernel  the same with more threads, for many sites
//   nccl         two kernels an iteration, faces and sums by NCCL
//   cublas       the baseline: each vector operation is a call of cuBLAS
//   block        block CG: small dense matrices on the host
enum class LoopForm { host, two_kernels, one_kernel, wide_kernel, nccl, cublas, block };
std::string to_string(LoopForm form);                 // "host", "two kernels", "one kernel", ..., "block"
void parse(const std::string& text, LoopForm& form);  // throws Error naming the choices

// What is asked for on a GPU. Where one kernel cannot run, two kernels do, and the report says so.
// wide: one kernel, and wide whatever the number of sites.
enum class LoopChoice { automatic, one, wide, two };
LoopChoice default_loop_choice();  // STAGHORN_CG_KERNELS: auto (where not set), one, wide, two

// Whether one kernel is taken where the GPUs allow it: a single GPU, or several GPUs of one host by p2p.
constexpr bool takes_one_kernel(LoopChoice asked, int n_rhs, std::int64_t local_volume) {
  // With more sites the sums in a thread would not stay exact. On GPUs with fewer than 128 multiprocessors that begins
  // with fewer sites; can_be_one_kernel finds it there.
  constexpr std::int64_t most_exact_sites = 1 << 23;
  if (asked == LoopChoice::two || n_rhs * local_volume > most_exact_sites) return false;
  return asked != LoopChoice::automatic || n_rhs == 1;
}

// Whether that one kernel is the wide one (decision 006).
constexpr bool takes_wide_kernel(LoopChoice asked, std::int64_t local_volume) {
  constexpr std::int64_t most_narrow_sites = 24 * 24 * 24 * 48;
  return asked == LoopChoice::wide || local_volume > most_narrow_sites;
}

}  // namespace staghorn
