// Dot products, a Gram matrix and a linear combination of random vectors on any process grid, for
// test_vector_products.py:
//
//   vector_products X Y Z T GX GY GZ GT PRECISION KERNELS N M [values]
//
// N and M columns a and b on the odd sites. Prints all results to the last bit, and a sum over the bits of the
// combination; with `values`, which is for one rank, also each number of the vectors. KERNELS: auto, avx512, avx2,
// baseline or cuda. Exit status 77: this machine cannot run them.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "dirac/algebra/philox.hpp"
#include "dirac/kernels/kernel_table.hpp"
#include "dirac/operators/vector_algebra.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "halo/watch/error.hpp"

using namespace staghorn;

namespace {

constexpr Parity parity = Parity::odd;

// The same numbers on every process grid: by column over 2^24, by site over 2^10.
VectorField random_vector(const Lattice& lattice, int column) {
  VectorField v(lattice);
  for (std::int64_t site = 0; site < v.size(); ++site) {
    const auto global = lattice.global_site_index(lattice.to_global(lattice.site_coordinates(site)));
    RandomStream random(11, RandomPurpose::hot_start, std::uint64_t(column), std::uint64_t(global));
    const int exponent = int(random.bits() % 10) + column % 5 * 6 - 12;
    for (auto& component : v[site].c) {
      const Complex<double> z = complex_gaussian(random);
      component = {std::ldexp(z.re, exponent), std::ldexp(z.im, exponent)};
    }
  }
  return v;
}

void print_values(const ColorVectorField& field, const char* name) {
  const Lattice& lattice = field.layout().lattice();
  for (int rhs = 0; rhs < field.n_rhs(); ++rhs) {
    VectorField v(lattice);
    field.unpack(parity, rhs, v);
    for (std::int64_t site = 0; site < v.size(); ++site) {
      if (Lattice::parity_of(lattice.site_coordinates(site)) != parity) continue;
      for (const Complex<double>& z : v[site].c)
        std::printf("%s %d %lld %a %a\n", name, rhs, (long long)site, z.re, z.im);
    }
  }
}

// A sum over all numbers that changes with each bit and each place.
std::int64_t sum_of_bits(const Communicator& communicator, const ColorVectorField& field) {
  const Lattice& lattice = field.layout().lattice();
  std::uint64_t sum = 0;
  for (int rhs = 0; rhs < field.n_rhs(); ++rhs) {
    VectorField v(lattice);
    field.unpack(parity, rhs, v);
    for (std::int64_t site = 0; site < v.size(); ++site) {
      const auto global = lattice.global_site_index(lattice.to_global(lattice.site_coordinates(site)));
      std::uint64_t place = std::uint64_t(rhs) << 40 | std::uint64_t(global) << 3;
      for (const Complex<double>& z : v[site].c)
        for (const double real : {z.re, z.im})
          sum += (__builtin_bit_cast(std::uint64_t, real) >> 8) * (2 * ++place + 1) >> 8;
    }
  }
  return communicator.sum(std::int64_t(sum));
}

int run(const Communicator& communicator, char** argv, bool values) {
  const auto extents = [&](int first) {
    return Extents{std::atoi(argv[first]), std::atoi(argv[first + 1]), std::atoi(argv[first + 2]),
                   std::atoi(argv[first + 3])};
  };
  const Precision precision = parse_kernel_precision(argv[9]);
  const std::string name = argv[10];
  const int n = std::atoi(argv[11]), m = std::atoi(argv[12]), gpus = cuda::device_count();
  if (name == "cuda" && gpus == 0) return 77;
  if (name == "cuda") cuda::select_device(communicator.rank_on_host() % gpus);
  const KernelTable& kernels = name == "cuda" ? cuda_kernels() : cpu_kernels(name);
  const Lattice lattice(extents(1), extents(5), communicator.rank());
  const SiteLayout layout = kernels.layout(lattice, precision);
  const VectorAlgebra algebra(communicator, layout, kernels);
  PinnedPieces pieces;
  const auto field = [&](int columns, int first) {
    ColorVectorField result(layout, precision, columns, kernels.space, &pieces);
    for (int rhs = 0; rhs < columns; ++rhs) result.pack(parity, rhs, random_vector(lattice, first + rhs));
    return result;
  };
  const ColorVectorField a = field(n, 0);
  ColorVectorField b = field(m, 100);
  if (values) print_values(a, "a"), print_values(b, "b");

  const ColorVectorField *left[] = {&a}, *right[] = {&b};
  ColorVectorField* target[] = {&b};
  const bool speaks = communicator.is_root();
  const auto print = [&](const char* what, int i, int j, const Complex<double>& z) {
    if (speaks) std::printf("%s %d %d %a %a\n", what, i, j, z.re, z.im);
  };
  const ComplexMatrix gram = algebra.gram(left, right);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < m; ++j) print("gram", i, j, gram(i, j));
  if (n <= VectorAlgebra::max_columns) {
    const ComplexMatrix hermitian = algebra.gram(left);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) print("hermitian", i, j, hermitian(i, j));
  }
  if (n == m) {
    const auto dots = algebra.dot(a, b);
    for (int i = 0; i < n; ++i) print("dot", i, i, dots[std::size_t(i)]);
  }
  ComplexMatrix c(n, m);
  RandomStream random(12, RandomPurpose::hot_start, 0, 0);
  for (auto& element : c.elements) element = complex_gaussian(random);
  algebra.combine(left, c, target, true);
  const std::int64_t sum = sum_of_bits(communicator, b);
  if (speaks) std::printf("combination %d %d %lld\n", n, m, (long long)sum);
  if (values) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < m; ++j) print("coefficient", i, j, c(i, j));
    print_values(b, "combined");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 13) return 2;
  const MpiSession mpi;
  const Communicator communicator(MPI_COMM_WORLD);
  try {
    return run(communicator, argv, argc > 13 && std::strcmp(argv[13], "values") == 0);
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
