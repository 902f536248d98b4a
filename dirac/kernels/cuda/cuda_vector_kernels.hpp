// Kernels of the CUDA table that read and write whole vectors: their contracts are in KernelTable.
#pragma once

#include "dirac/kernels/kernel_table.hpp"

namespace staghorn::cuda {

void norm2(const VectorShape& shape, const LaunchContext& launch, const void* v, const SumGrid* grids,
           ExactPartial* sums);
void combine(Precision precision, std::int64_t n, double alpha, const void* a, double beta, void* b);
void read_stream(const void* data, std::int64_t bytes, std::int64_t* sum);

}  // namespace staghorn::cuda
