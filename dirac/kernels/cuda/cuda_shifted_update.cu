// Steps of shifted systems: a stream over x and p of every shift that is not done, with the residuals in registers.
//
// 6 w (steps + 4 shifts) bytes a site and right-hand side, w bytes of a real; 30 flops a shift and step.
#include "dirac/kernels/cuda/cuda_shifted_update.hpp"
#include "halo/cuda/cuda_check.hpp"
#include "halo/watch/error.hpp"

namespace staghorn::cuda {

namespace {

constexpr int shifted_threads = 256;

struct ShiftedArguments {
  const void* r[max_shifted_steps];
  void *x[max_shifts], *p[max_shifts];
  const ShiftedStep<double>* steps;
  const int* counts;
  int n_shifts, n_rhs;
  unsigned pairs;  // of reals, of one right-hand side
};

template <class Real>
struct PairOf;
template <>
struct PairOf<double> {
  using type = double2;
};
template <>
struct PairOf<float> {
  using type = float2;
};

// A thread computes two reals of one right-hand side.
template <class Real, int Steps>
__global__ void __launch_bounds__(shifted_threads) update_shifted_kernel(const __grid_constant__ ShiftedArguments a) {
  using Pair = typename PairOf<Real>::type;
  const unsigned pair = blockIdx.x * shifted_threads + threadIdx.x;
  if (pair >= a.pairs) return;
  const int rhs = int(blockIdx.y);
  const std::size_t place = std::size_t(rhs) * a.pairs + pair;
  Pair r[Steps];
#pragma unroll
  for (int step = 0; step < Steps; ++step) r[step] = __ldcs(static_cast<const Pair*>(a.r[step]) + place);
  for (int shift = 0; shift < a.n_shifts; ++shift) {
    const int of = shift * a.n_rhs + rhs, count = a.counts[of];
    if (count == 0) continue;
    Pair *const to_x = static_cast<Pair*>(a.x[shift]) + place, *const to_p = static_cast<Pair*>(a.p[shift]) + place;
    Pair x = __ldcs(to_x), p = __ldcs(to_p);
#pragma unroll
    for (int step = 0; step < Steps; ++step)
      if (step < count) {
        const ShiftedStep<double>& given = a.steps[of * max_shifted_steps + step];
        const ShiftedStep<Real> with = {Real(given.alpha), Real(given.beta), Real(given.zeta)};
        with.apply(x.x, p.x, r[step].x);
        with.apply(x.y, p.y, r[step].y);
      }
    __stcs(to_x, x);
    __stcs(to_p, p);
  }
}

template <class Real>
void launch(const ShiftedArguments& a, int steps) {
  const dim3 grid((a.pairs + shifted_threads - 1) / shifted_threads, unsigned(a.n_rhs));
  switch (steps) {
    case 1:
      update_shifted_kernel<Real, 1><<<grid, shifted_threads>>>(a);
      break;
    case 2:
      update_shifted_kernel<Real, 2><<<grid, shifted_threads>>>(a);
      break;
    case 3:
      update_shifted_kernel<Real, 3><<<grid, shifted_threads>>>(a);
      break;
    default:
      update_shifted_kernel<Real, 4><<<grid, shifted_threads>>>(a);
  }
  STAGHORN_CUDA_CHECK_LAUNCH(update_shifted_kernel);
}
static_assert(max_shifted_steps == 4);

}  // namespace

void update_shifted(const ShiftedCall& call) {
  ShiftedArguments a = {};
  for (std::size_t step = 0; step < call.r.size(); ++step) a.r[step] = call.r[step];
  for (std::size_t shift = 0; shift < call.x.size(); ++shift) a.x[shift] = call.x[shift], a.p[shift] = call.p[shift];
  a.steps = call.steps, a.counts = call.counts;
  a.n_shifts = int(call.x.size()), a.n_rhs = call.n_rhs;
  a.pairs = 3 * unsigned(call.lanes);
  if (call.precision == Precision::fp64)
    launch<double>(a, int(call.r.size()));
  else
    launch<float>(a, int(call.r.size()));
}

}  // namespace staghorn::cuda
