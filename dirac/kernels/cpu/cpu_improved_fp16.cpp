// The hops of improved quarks in fp16, for one instruction set.
#include "dirac/kernels/cpu/cpu_improved_hop.hpp"

namespace staghorn {

void STAGHORN_FOR_ISA(improved_hop_fp16_)(const HopView& view, const HopCall& call) {
  improved_hop<std::int16_t>(view, call);
}

}  // namespace staghorn
