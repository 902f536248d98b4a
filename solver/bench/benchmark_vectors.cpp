// Products and combinations of many vectors.
#include <functional>
#include <optional>

#include "dirac/kernels/kernel_table.hpp"
#include "dirac/operators/vector_algebra.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "solver/bench/benchmark.hpp"
#include "solver/request/sources.hpp"

namespace staghorn {

namespace {

constexpr int columns = 16;

struct VectorBench {
  VectorBench(const Communicator& communicator, const Lattice& lattice, Precision precision, const KernelTable& kernels)
      : layout(kernels.layout(lattice, precision)),
        algebra(communicator, layout, kernels),
        a(layout, precision, columns, kernels.space, &pieces),
        b(layout, precision, columns, kernels.space, &pieces),
        one(layout, precision, 1, kernels.space, &pieces) {
    const SourceSet noise = make_sources(communicator, lattice, {parse_source("gaussian:1"), std::nullopt, 1});
    for (int r = 0; r < columns; ++r) {
      a.pack(Parity::even, r, noise.fields.front());
      b.pack(Parity::even, r, noise.fields.front());
    }
  }

  PinnedPieces pieces;
  SiteLayout layout;
  VectorAlgebra algebra;
  ColorVectorField a, b, one;
};

}  // namespace

std::vector<BenchmarkResult> benchmark_vectors(const Communicator& communicator, const Lattice& lattice,
                                               const BenchmarkOptions& options, double stream_read) {
  const KernelTable& kernels = options.cuda_device < 0 ? cpu_kernels(options.instruction_set) : cuda_kernels();
  const double sites = double(lattice.global_volume()) / 2;
  std::vector<BenchmarkResult> results;
  for (const Precision precision : options.precisions) {
    VectorBench bench(communicator, lattice, precision, kernels);
    const ColorVectorField *a[] = {&bench.a}, *b[] = {&bench.b};
    ColorVectorField *into_one[] = {&bench.one}, *into_many[] = {&bench.b};
    ComplexMatrix to_one(columns, 1), to_many(columns, columns);
    for (ComplexMatrix* c : {&to_one, &to_many})
      for (std::size_t k = 0; k < c->elements.size(); ++k) c->elements[k] = {0.1 + 0.01 * double(k % 7), 0.2};
    const auto measure = [&](const char* what, int products, int vectors, const std::function<void()>& work) {
      const double seconds = best_time(communicator, options.seconds, work);
      BenchmarkResult result = {};
      result.what = what;
      result.precision = precision;
      result.reads_links = false;
      result.rhs = columns;
      result.microseconds = 1e6 * seconds;
      result.gflops = 24e-9 * products * sites / seconds;
      const double bytes = double(vectors) * bytes_per_vector(precision) * sites;
      result.gb_s = 1e-9 * bytes / seconds;
      result.fraction_of_stream = bytes / seconds / stream_read;
      results.push_back(result);
    };
    ColumnScales scales_a, scales_b;
    measure("dot products", columns, 2 * columns, [&] { bench.algebra.dot(bench.a, bench.b, &scales_a, &scales_b); });
    measure("gram matrix", columns * (columns + 1) / 2, columns, [&] { bench.algebra.gram(a, &scales_a); });
    measure("gram matrix of two", columns * columns, 2 * columns,
            [&] { bench.algebra.gram(a, b, &scales_a, &scales_b); });
    const ColorVectorField *four[] = {&bench.a, &bench.b, &bench.a, &bench.b}, *with[] = {&bench.one};
    ColumnScales scales_four, scale_one;
    measure("64 products with one", 4 * columns, 4 * columns + 1,
            [&] { bench.algebra.gram(four, with, &scales_four, &scale_one); });
    measure("combination to one", columns, columns + 1, [&] { bench.algebra.combine(a, to_one, into_one); });
    measure("combination to 16", columns * columns, 2 * columns, [&] { bench.algebra.combine(a, to_many, into_many); });
  }
  return results;
}

}  // namespace staghorn
