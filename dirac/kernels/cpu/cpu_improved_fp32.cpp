// The hops of improved quarks in fp32, for one instruction set.
#include "dirac/kernels/cpu/cpu_improved_hop.hpp"

namespace staghorn {

void STAGHORN_FOR_ISA(improved_hop_fp32_)(const HopView& view, const HopCall& call) { improved_hop<float>(view, call); }

}  // namespace staghorn
