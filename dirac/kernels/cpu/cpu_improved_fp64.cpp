// The hops of improved quarks in fp64, for one instruction set.
#include "dirac/kernels/cpu/cpu_improved_hop.hpp"

namespace staghorn {

void STAGHORN_FOR_ISA(improved_hop_fp64_)(const HopView& view, const HopCall& call) {
  improved_hop<double>(view, call);
}

}  // namespace staghorn
