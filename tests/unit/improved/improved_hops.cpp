// Hops of improved quarks on any process grid, for test_improved_hops.py and gpu/test_improved_quarks.py:
//
//   improved_hops GAUGE asqtad|hisq GX GY GZ GT PRECISION NAIK_LINKS KERNELS N_RHS [MASS]
//
// KERNELS: an instruction set, `cuda` or `cuda:TRANSPORT`. Fat and Naik links of the file (u0 = 1, epsilon = 0), and D
// b for the formula source b in MILC's phases (right-hand side r: b 2^-r). Prints |D b|^2 on both parities, that of the
// plain operator, and a sum over all bits of D b; with MASS also the form of the loop, the iterations of A x = b on
// even sites to 1e-10, |x|^2, the residual by the plain operator, and a sum over the bits of x.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "dirac/fields/plain_algebra.hpp"
#include "dirac/gauge/improved_links.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "dirac/operators/staggered_operator.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "halo/cut_lattice.hpp"
#include "halo/watch/error.hpp"
#include "lattice_io/gauge/gauge_file.hpp"
#include "solver/krylov/conjugate_gradient.hpp"

using namespace staghorn;

namespace {

// S times cos(phi) + i sin(1.7 phi + 0.2), phi = 0.1 + 1.3 x + 0.7 y + 2.1 z + 0.4 t + 0.9 c; S leads to MILC's phases
// (boundary.hpp).
VectorField formula_vector(const Lattice& lattice) {
  VectorField v(lattice);
  for (std::int64_t site = 0; site < v.size(); ++site) {
    const Coordinates x = lattice.to_global(lattice.site_coordinates(site));
    for (int c = 0; c < 3; ++c) {
      const double phi = 0.1 + 1.3 * x[0] + 0.7 * x[1] + 2.1 * x[2] + 0.4 * x[3] + 0.9 * c;
      v[site].c[c] = {milc_phase_sign(x) * std::cos(phi), milc_phase_sign(x) * std::sin(1.7 * phi + 0.2)};
    }
  }
  return v;
}

VectorField scaled(const VectorField& v, double factor) {
  VectorField result(v.lattice());
  for (std::int64_t site = 0; site < v.size(); ++site)
    for (int c = 0; c < 3; ++c) result[site].c[c] = {factor * v[site].c[c].re, factor * v[site].c[c].im};
  return result;
}

// A sum over all numbers of both parities that changes with each bit and each place.
std::uint64_t sum_of_bits(const VectorField& v) {
  std::uint64_t sum = 0;
  for (std::int64_t site = 0; site < v.size(); ++site) {
    std::uint64_t place =
        8 * std::uint64_t(v.lattice().global_site_index(v.lattice().to_global(v.lattice().site_coordinates(site))));
    for (const Complex<double>& z : v[site].c)
      for (const double real : {z.re, z.im})
        sum += (__builtin_bit_cast(std::uint64_t, real) >> 8) * (2 * ++place + 1) >> 8;
  }
  return sum;
}

void run(const Communicator& communicator, int argc, char** argv) {
  const GaugeHeader header = read_gauge_header(communicator, argv[1]);
  Extents grid;
  for (int mu = 0; mu < 4; ++mu) grid[mu] = std::atoi(argv[3 + mu]);
  const Lattice lattice = cut_lattice(communicator, header.extents, grid);
  LinkField thin(lattice);
  read_gauge(communicator, header, thin, true);
  const ImprovedLinks made = std::string(argv[2]) == "hisq" ? hisq_links(communicator, thin, 0, Unitarize::u3)
                                                            : asqtad_links(communicator, thin, 1);
  const OperatorLinks links(made.fat, made.naik, made.naik_weight);

  OperatorOptions options;
  options.precision = parse_kernel_precision(argv[7]);
  options.naik_reconstruct = parse_naik_form(argv[8]);
  const std::string kernels = argv[9];
  if (kernels.starts_with("cuda")) {
    options.cuda_device = communicator.rank() % cuda::device_count();
    options.tuning = Tuning::off;
    if (kernels.size() > 5) options.transport = kernels.substr(5);
  } else {
    options.instruction_set = kernels;
  }
  options.n_rhs = std::atoi(argv[10]);
  StaggeredOperator d(communicator, links, options);
  const VectorField b = formula_vector(lattice);
  const bool speaks = communicator.is_root();
  const auto print_bits = [&](const char* what, int rhs, const VectorField& v) {
    const std::int64_t bits = communicator.sum(std::int64_t(sum_of_bits(v)));
    if (speaks) std::printf("%s %d %lld\n", what, rhs, (long long)bits);
  };

  std::vector<VectorField> hopped(std::size_t(options.n_rhs), VectorField(lattice));
  for (const Parity target : {Parity::even, Parity::odd}) {
    ColorVectorField in = d.make_vector(), out = d.make_vector();
    for (int r = 0; r < options.n_rhs; ++r) in.pack(opposite(target), r, scaled(b, std::ldexp(1, -r)));
    std::vector<ExactSum> sums(std::size_t(options.n_rhs), ExactSum(1.0));
    const std::vector<double> norms = d.hop_and_norm2(out, in, target, sums);
    VectorField plain(lattice);
    plain_hop(communicator, links, options.boundary, plain, b, target);
    const double expected = norm2(communicator, plain, target);
    if (speaks) {
      const char* const parity = target == Parity::even ? "even" : "odd";
      for (int r = 0; r < options.n_rhs; ++r) std::printf("%s %d %a\n", parity, r, norms[std::size_t(r)]);
      std::printf("plain_%s 0 %a\n", parity, expected);
    }
    for (int r = 0; r < options.n_rhs; ++r) out.unpack(target, r, hopped[std::size_t(r)]);
  }
  for (int r = 0; r < options.n_rhs; ++r) print_bits("bits", r, hopped[std::size_t(r)]);
  if (argc < 12) return;

  const double mass = std::atof(argv[11]);
  ConjugateGradient cg(d);
  ColorVectorField x = d.make_solution(), source = d.make_vector();
  CgStop stop;
  const double size = norm2(communicator, b, Parity::even);
  for (int r = 0; r < options.n_rhs; ++r) {
    source.pack(Parity::even, r, scaled(b, std::ldexp(1, -r)));
    stop.target_norm.push_back(std::ldexp(1e-10 * std::sqrt(size), -r));
  }
  stop.choice = default_loop_choice();
  const CgResult result = cg.solve(parity_system(d, Parity::even, mass), x, source, stop, {});
  std::string form = to_string(result.form);
  std::replace(form.begin(), form.end(), ' ', '_');
  if (speaks) std::printf("form 0 %s\n", form.c_str());
  for (int r = 0; r < options.n_rhs; ++r) {
    VectorField solution(lattice), residual(lattice);
    x.unpack(Parity::even, r, solution);
    const VectorField of_column = scaled(b, std::ldexp(1, -r));
    const double left =
        parity_residual(communicator, links, options.boundary, mass, Parity::even, solution, of_column, residual);
    const double norm = norm2(communicator, solution, Parity::even);
    if (speaks)
      std::printf("iterations %d %ld\nsolution %d %a\nresidual %d %a\n", r, result.rhs[std::size_t(r)].iterations, r,
                  norm, r, std::sqrt(left / std::ldexp(size, -2 * r)));
    print_bits("solution_bits", r, solution);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 11) return 2;
  const MpiSession mpi;
  const Communicator communicator(MPI_COMM_WORLD);
  try {
    run(communicator, argc, argv);
  } catch (const Error& error) {
    if (communicator.is_root()) std::printf("error: %s\n", error.what());
    return 1;
  }
  return 0;
}
