// The loop as one kernel, for improved quarks.
#include "solver/krylov/cuda/cuda_one_kernel.cuh"

namespace staghorn::cuda {

OneKernel improved_one_kernel(const HopView& view, bool wide) {
  OneKernel kernel = {};
  with_stored(view.vectors.precision, view.near.here, [&]<class Stored>(const Stored*) {
    with_naik_form(view.naik.reconstruct, [&]<int Naik>(std::integral_constant<int, Naik>) {
      kernel = one_kernel_of<Stored, LinkReals<18, Naik>>(view, wide);
    });
  });
  return kernel;
}

}  // namespace staghorn::cuda
