// The hop of improved quarks in fp32.
#include "dirac/kernels/cuda/cuda_improved_hop.cuh"

namespace staghorn::cuda {

template void launch_improved_hop<float, HopUse::store_norm>(const HopView&, const ImprovedArguments&,
                                                             const LateFinish&, const Launch&);
template void launch_improved_hop<float, HopUse::update_residual>(const HopView&, const ImprovedArguments&,
                                                                  const LateFinish&, const Launch&);

}  // namespace staghorn::cuda
