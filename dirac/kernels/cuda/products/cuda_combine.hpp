// Linear combinations of many columns on a GPU.
#pragma once

#include <cstddef>

#include "dirac/kernels/vector_kernels.hpp"

namespace staghorn::cuda {

// Of a call's scratch: coefficients, among them columns without a field.
constexpr std::size_t combine_scratch_bytes = 2 * max_coefficients * sizeof(Complex<double>);

// Returns when the work is done. Local.
void combine(const CombineCall& call);

}  // namespace staghorn::cuda
