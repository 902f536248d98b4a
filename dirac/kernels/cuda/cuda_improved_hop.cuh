// Launches of the hop of improved quarks: fat links of 18 reals, and Naik links in each of their forms. Only the files
// that compile these kernels, one for each precision, include it (cuda_improved_*.cu); all others know the declaration
// (cuda_hop.cuh).
#pragma once

#include "dirac/kernels/cuda/cuda_hop.cuh"

namespace staghorn::cuda {

template <class Stored, HopUse Use>
void launch_improved_hop(const HopView& view, const ImprovedArguments& a, const LateFinish& finish, const Launch& how) {
  with_naik_form(view.naik.reconstruct, [&]<int Naik>(std::integral_constant<int, Naik>) {
    launch_hop_tiles<Stored, LinkReals<18, Naik>, Use>(a, finish, how, choice_for<Use>(view));
  });
}

}  // namespace staghorn::cuda
