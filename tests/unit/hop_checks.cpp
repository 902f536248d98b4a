// The kernels of every instruction set and of the GPU against the plain operator, and against each other to the last
// bit: naive and improved quarks, every precision, link form, number of right-hand sides and subset of cut directions.
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "dirac/kernels/kernel_table.hpp"
#include "dirac/operators/operator_memory.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "dirac/operators/staggered_operator.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "halo/watch/error.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

constexpr int most_rhs = 5;  // a tile of four and one of one; a tile of three and single ones below
constexpr Parity parities[] = {Parity::even, Parity::odd};

struct HopCase {
  Extents extents;
  const char* boundary;
  Stencil stencil = Stencil::naive;
  bool every_rhs = true;  // each cut with all numbers of right-hand sides; else with one, and all numbers in turn
};

// 2^4: every neighbour is met twice. 4x6x8x10 and 6x6x2x6: lanes are consecutive sites, and the last block may be
// padded. 8x8x4x4: lanes are virtual nodes for all widths. 2x16x4x2: all lanes lie along one direction. Each kind of
// lanes has a lattice with all numbers of right-hand sides.
constexpr HopCase cases[] = {
    {{2, 2, 2, 2}, "periodic,periodic,periodic,antiperiodic"},
    {{4, 6, 8, 10}, "periodic,periodic,periodic,antiperiodic", Stencil::naive, false},
    {{4, 6, 2, 10}, "0.3,-0.5,antiperiodic,0.125"},
    {{6, 6, 2, 6}, "antiperiodic,periodic,periodic,periodic"},
    {{8, 8, 4, 4}, "periodic,periodic,periodic,antiperiodic"},
    {{8, 8, 4, 4}, "0.3,-0.5,antiperiodic,0.125", Stencil::naive, false},
    {{2, 16, 4, 2}, "periodic,antiperiodic,periodic,0.7"},
    // Three steps: at extent 4 every site is near both rims. Virtual nodes of extents 2 and 4, and consecutive lanes.
    // Tiles are those of naive quarks.
    {{4, 4, 4, 4}, "periodic,periodic,periodic,antiperiodic", Stencil::improved, false},
    {{4, 6, 8, 10}, "periodic,periodic,periodic,antiperiodic", Stencil::improved, false},
    {{6, 4, 4, 6}, "0.3,-0.5,antiperiodic,0.125", Stencil::improved, false},
    {{8, 8, 4, 4}, "0.3,-0.5,antiperiodic,0.125", Stencil::improved, false},
    {{4, 16, 4, 8}, "periodic,antiperiodic,periodic,0.7", Stencil::improved, false},
};

// The forms of links that are tried: of thin links, or of Naik links beside fat ones.
std::array<HopForm, 3> forms_of(Stencil stencil) {
  using R = Reconstruct;
  if (stencil == Stencil::naive)
    return {{{stencil, R::none18, R::none18}, {stencil, R::row12, R::none18}, {stencil, R::su3_8, R::none18}}};
  return {{{stencil, R::none18, R::none18}, {stencil, R::none18, R::u3_13}, {stencil, R::none18, R::u3_9}}};
}

std::string name_of(const HopCase& c, const std::string& kernels) {
  std::string boundary = c.boundary;
  std::replace(boundary.begin(), boundary.end(), ',', '_');
  return (c.stencil == Stencil::improved ? "improved_hop_" : "hop_") + kernels + "_" + to_string(c.extents) + "_" +
         boundary;
}

ColorVector<double> gaussian_vector(RandomStream& random) {
  ColorVector<double> v;
  for (auto& component : v.c) component = complex_gaussian(random);
  return v;
}

constexpr double naik_scale = -0.3;  // larger than in any action, so that errors show

// Random links (thin: in SU(3); fat: of reals up to 2; Naik: in U(3)), random vectors, and D of them by the plain
// operator.
struct Problem {
  explicit Problem(const HopCase& c)
      : boundary(parse_boundary(c.boundary)),
        lattice(c.extents, {1, 1, 1, 1}, 0),
        links(lattice),
        naik(lattice),
        stencil(c.stencil) {
    if (stencil == Stencil::naive)
      make_random(links);
    else
      make_random_improved(links, naik);
    for (int r = 0; r < most_rhs; ++r) {
      vectors.emplace_back(lattice);
      hopped.emplace_back(lattice);
      for (std::int64_t site = 0; site < links.size(); ++site) {
        RandomStream random = test_stream(1000000 * (r + 1) + site);
        vectors[r][site] = gaussian_vector(random);
      }
      plain_hop(communicator, links_of(links, naik), boundary, hopped[r], vectors[r]);
    }
  }

  OperatorLinks links_of(const LinkField& near, const LinkField& far) const {
    return stencil == Stencil::naive ? OperatorLinks(near) : OperatorLinks(near, far, naik_scale);
  }

  Communicator communicator{MPI_COMM_SELF};
  Boundary boundary;
  Lattice lattice;
  LinkField links, naik;
  Stencil stencil;
  std::vector<VectorField> vectors, hopped;
};

// Everything that CG computes, for each right-hand side: D a on both parities; all norms; r, x and p after a hop that
// adds, after updates of the residual in all forms, and after an update of the direction. One right-hand side leaves x
// alone.
struct Step {
  std::vector<VectorField> hopped, updated_r, updated_x, updated_p;
  std::vector<std::vector<double>> norms;
  bool memory_as_predicted = false;
};

// Whether an operator takes the memory that was predicted: exactly with virtual nodes and on a GPU, else no more.
bool takes_predicted_memory(const StaggeredOperator& d) {
  const OperatorBytes predicted = predict_operator_bytes(d.lattice(), d.options());
  const double links = double(d.link_bytes()), halo = double(d.halo_bytes());
  const bool exact = d.layout().virtual_nodes() && d.options().cuda_device < 0;
  const bool holds = exact ? predicted.links == links && predicted.halo == halo
                           : predicted.links >= links && (d.options().cuda_device >= 0 || predicted.halo >= halo);
  if (!holds) std::printf("links %g of %g, halo %g of %g bytes\n", links, predicted.links, halo, predicted.halo);
  return holds;
}

Step take_step(const Problem& problem, const std::array<bool, 4>& loopback, const OperatorOptions& options) {
  const Lattice lattice(problem.lattice.global(), {1, 1, 1, 1}, 0, loopback);
  const LinkField links = on_lattice(lattice, problem.links), naik = on_lattice(lattice, problem.naik);
  StaggeredOperator d(problem.communicator, problem.links_of(links, naik), options);
  const int n = options.n_rhs;
  const VectorField zero(lattice);
  Step step{std::vector(n, zero),     std::vector(n, zero), std::vector(n, zero), std::vector(n, zero), {},
            takes_predicted_memory(d)};
  std::vector<VectorField> vectors;
  for (int r = 0; r < n; ++r) vectors.push_back(on_lattice(lattice, problem.vectors[r]));
  std::vector<ExactSum> sums(n, ExactSum(1.0));
  std::vector<double> alpha, beta, new_weight, old_weight, at_once;
  for (int r = 0; r < n; ++r) {
    alpha.push_back(0.3 + 0.1 * r), beta.push_back(0.7 - 0.1 * r);
    new_weight.push_back(r == 1 ? 0 : 1.1 - 0.3 * r), old_weight.push_back(r == 1 ? 0 : 0.2 * r - 0.4);
    at_once.push_back(r == 1 ? 0 : alpha.back());
  }

  for (const Parity target : parities) {
    ColorVectorField in = d.make_vector(), out = d.make_vector(), p = d.make_vector(), x = d.make_solution();
    for (int r = 0; r < n; ++r) in.pack(opposite(target), r, vectors[r]), p.pack(target, r, vectors[r]);
    step.norms.push_back(d.hop_and_norm2(out, in, target, sums));
    for (int r = 0; r < n; ++r) out.unpack(target, r, step.hopped[r]);
    step.norms.push_back(d.hop_and_norm2(out, in, target, sums, beta));
    step.norms.push_back(d.update_residual(out, p, in, target, 0.04, alpha, sums));
    step.norms.push_back(d.update_residual(out, p, x, in, target, 0.04, {alpha, {}, new_weight, old_weight}, sums));
    step.norms.push_back(d.update_residual(out, p, x, in, target, 0.04, {alpha, beta, new_weight, old_weight}, sums));
    step.norms.push_back(d.update_direction(x, p, out, target, at_once, beta, sums));
    step.norms.push_back(d.norm2(x, sums));
    for (int r = 0; r < n; ++r) {
      out.unpack(target, r, step.updated_r[r]);
      x.unpack(target, r, step.updated_x[r]);
      p.unpack(target, r, step.updated_p[r]);
    }
  }
  return step;
}

// The largest deviation of D a from the plain operator's, over all sites and colours of one right-hand side.
double deviation(const VectorField& found, const VectorField& expected) {
  double worst = 0;
  for (std::int64_t site = 0; site < found.size(); ++site)
    for (int c = 0; c < 3; ++c)
      worst = std::max({worst, std::abs(found[site].c[c].re - expected[site].c[c].re),
                        std::abs(found[site].c[c].im - expected[site].c[c].im)});
  return worst;
}

bool same_bits(const VectorField& a, const VectorField& b) {
  return std::memcmp(a.data(), b.data(), std::size_t(a.bytes())) == 0;
}

bool same_bits(const Step& found, const Step& expected, int rhs) {
  for (std::size_t k = 0; k < expected.norms.size(); ++k)
    if (found.norms[k][rhs] != expected.norms[k][rhs]) return false;
  return same_bits(found.hopped[rhs], expected.hopped[rhs]) &&
         same_bits(found.updated_r[rhs], expected.updated_r[rhs]) &&
         same_bits(found.updated_x[rhs], expected.updated_x[rhs]) &&
         same_bits(found.updated_p[rhs], expected.updated_p[rhs]);
}

// Whether this machine can run these kernels. Prints why not.
bool can_run(const std::string& kernels) {
  if (kernels == "cuda") {
    if (cuda::device_count() == 0) std::printf("no GPU, or a build without CUDA\n");
    return cuda::device_count() > 0;
  }
  try {
    cpu_kernels(kernels);
    return true;
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
    return false;
  }
}

Verdict check_hop(const HopCase& c, const std::string& kernels) {
  if (!can_run(kernels)) return Verdict::cannot_run;
  const bool on_gpu = kernels == "cuda";
  const int cuts = on_gpu && c.stencil == Stencil::naive ? 1 : 16;  // test_cut_lattice.py cuts naive quarks on a GPU
  const Problem problem(c);
  const bool every_rhs = c.every_rhs || cuts == 1;
  const auto takes = [&](int cut, int n_rhs) { return every_rhs || cut % most_rhs == n_rhs - 1; };
  int cells = 0;
  for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::fp16})
    for (const HopForm& form : forms_of(c.stencil)) {
      OperatorOptions options;
      options.tuning = default_tuning();
      options.boundary = problem.boundary;
      options.precision = precision;
      options.reconstruct = form.near;
      options.naik_reconstruct = form.naik;
      options.n_rhs = most_rhs;
      options.instruction_set = "baseline";
      omp_set_num_threads(1);
      const Step expected = take_step(problem, {}, options);
      // 24 terms of order one per component, 6 of them from rebuilt rows; with fat and Naik links 48.
      const double tolerance = 60 * (c.stencil == Stencil::improved ? 2 : 1) *
                               (precision == Precision::fp64   ? std::numeric_limits<double>::epsilon()
                                : precision == Precision::fp32 ? std::numeric_limits<float>::epsilon()
                                                               : 0x1p-15);
      double worst = 0;
      for (int r = 0; r < most_rhs; ++r) worst = std::max(worst, deviation(expected.hopped[r], problem.hopped[r]));
      std::printf("%s %s %s: deviation %.2e, tolerance %.2e\n", to_string(precision).c_str(),
                  to_string(form.near).c_str(), to_string(form.naik).c_str(), worst, tolerance);
      if (!(worst < tolerance)) return Verdict::fails;

      if (on_gpu)
        options.cuda_device = 0;
      else
        options.instruction_set = kernels;
      for (int cut = 0; cut < cuts; ++cut)
        for (options.n_rhs = 1; options.n_rhs <= most_rhs; ++options.n_rhs) {
          if (!takes(cut, options.n_rhs)) continue;
          omp_set_num_threads(1 + (cut + options.n_rhs) % 2);  // threads must not matter either
          options.overlap = cut % 3 != 0;
          const Step step = take_step(problem, {bool(cut & 1), bool(cut & 2), bool(cut & 4), bool(cut & 8)}, options);
          ++cells;
          if (!step.memory_as_predicted) return Verdict::fails;
          for (int r = 0; r < options.n_rhs; ++r)
            if (!same_bits(step, expected, r)) {
              std::printf("other bits: cut %x, %d right-hand sides, number %d\n", cut, options.n_rhs, r);
              return Verdict::fails;
            }
        }
    }
  std::printf("%d cells\n", cells);
  return cells == 3 * 3 * cuts * (every_rhs ? most_rhs : 1) ? Verdict::holds : Verdict::fails;
}

}  // namespace

std::vector<UnitCheck> hop_checks() {
  std::vector<UnitCheck> checks;
  for (const std::string kernels : {"baseline", "avx2", "avx512", "cuda"})
    for (const HopCase& c : cases)
      checks.emplace_back(name_of(c, kernels), [c, kernels] { return check_hop(c, kernels); });
  return checks;
}

}  // namespace staghorn
