// The hop of improved quarks in fp16.
#include "dirac/kernels/cuda/cuda_improved_hop.cuh"

namespace staghorn::cuda {

template void launch_improved_hop<std::int16_t, HopUse::store_norm>(const HopView&, const ImprovedArguments&,
                                                                    const LateFinish&, const Launch&);
template void launch_improved_hop<std::int16_t, HopUse::update_residual>(const HopView&, const ImprovedArguments&,
                                                                         const LateFinish&, const Launch&);

}  // namespace staghorn::cuda
