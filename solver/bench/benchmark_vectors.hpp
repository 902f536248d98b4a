// Measurements of dot products, Gram matrices and linear combinations of many vectors, beside the streaming read.
#pragma once

#include <vector>

#include "solver/bench/benchmark.hpp"

namespace staghorn {

// For each precision of the options, on 16 vectors of one parity: their dot products with 16 others; their Gram matrix;
// combinations of all of them into one vector and into 16. Bytes: each vector that is read or written, once. Flops: 24
// a site for each complex product of two vectors, or of a vector and a number. Collective.
std::vector<BenchmarkResult> benchmark_vectors(const Communicator& communicator, const Lattice& lattice,
                                               const BenchmarkOptions& options, double stream_read);

}  // namespace staghorn
