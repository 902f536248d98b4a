// Conjugate Gradient of improved quarks on a GPU: the CPU's bits in every form of the loop, precision, form of Naik
// links, number of right-hand sides and cut (a rank that sends its faces to itself).
#include <cstdio>
#include <cstring>

#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/operators/staggered_operator.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "solver/krylov/conjugate_gradient.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

constexpr Parity parity = Parity::even;
constexpr int most_rhs = 16;
constexpr int iterations = 20;  // more than cg_refresh_interval, so that the direction is updated as well
constexpr double mass = 0.3, naik_scale = -0.3;

struct Problem {
  Problem() {
    make_random_improved(fat, naik);
    for (int r = 0; r < most_rhs; ++r) {
      columns.emplace_back(lattice);
      for (std::int64_t site = 0; site < fat.size(); ++site) {
        RandomStream random = test_stream(std::uint64_t(1000000 * (r + 1) + site));
        for (auto& component : columns.back()[site].c) component = complex_gaussian(random);
      }
    }
  }

  Communicator communicator{MPI_COMM_SELF};
  Boundary boundary = parse_boundary("periodic,antiperiodic,0.3,antiperiodic");
  Lattice lattice{{4, 6, 8, 4}, {1, 1, 1, 1}, 0};
  LinkField fat{lattice}, naik{lattice};
  std::vector<VectorField> columns;
};

// The links on a lattice whose faces travel in the directions of `loopback`.
struct CutProblem {
  CutProblem(const Problem& problem, const std::array<bool, 4>& loopback)
      : problem(problem),
        lattice(problem.lattice.global(), {1, 1, 1, 1}, 0, loopback),
        fat(on_lattice(lattice, problem.fat)),
        naik(on_lattice(lattice, problem.naik)) {}

  const Problem& problem;
  Lattice lattice;
  LinkField fat, naik;

  OperatorLinks links() const { return {fat, naik, naik_scale}; }
};

struct Found {
  std::vector<VectorField> x;
  std::vector<SolvedRhs> columns;
  LoopForm form = LoopForm::host;
};

Found solve(StaggeredOperator& d, const CutProblem& cut, LoopChoice choice) {
  const OperatorOptions& options = d.options();
  ConjugateGradient cg(d);
  ColorVectorField x = d.make_solution(), b = d.make_vector();
  CgStop stop;
  stop.max_iterations = iterations;
  stop.choice = choice;
  for (int r = 0; r < options.n_rhs; ++r) {
    b.pack(parity, r, on_lattice(cut.lattice, cut.problem.columns[std::size_t(r)]));
    stop.target_norm.push_back(0);
  }
  CgResult result = cg.solve(parity_system(d, parity, mass), x, b, stop, {});
  Found found{std::vector(std::size_t(options.n_rhs), VectorField(cut.lattice)), std::move(result.rhs), result.form};
  for (int r = 0; r < options.n_rhs; ++r) x.unpack(parity, r, found.x[std::size_t(r)]);
  return found;
}

Found solve(const CutProblem& cut, const OperatorOptions& options, LoopChoice choice,
            const std::shared_ptr<HopData>& from = {}) {
  StaggeredOperator d(cut.problem.communicator, cut.links(), options, from);
  return solve(d, cut, choice);
}

bool same_bits(const Found& found, const Found& expected) {
  for (std::size_t r = 0; r < found.x.size(); ++r)
    if (std::memcmp(found.x[r].data(), expected.x[r].data(), std::size_t(found.x[r].bytes())) != 0 ||
        found.columns[r].history != expected.columns[r].history)
      return false;
  return true;
}

struct LoopCase {
  int n_rhs;
  LoopChoice choice;
  LoopForm form;
};
constexpr LoopCase loops[] = {{1, LoopChoice::one, LoopForm::one_kernel},  {1, LoopChoice::wide, LoopForm::wide_kernel},
                              {1, LoopChoice::two, LoopForm::two_kernels}, {3, LoopChoice::one, LoopForm::one_kernel},
                              {4, LoopChoice::two, LoopForm::two_kernels}, {5, LoopChoice::two, LoopForm::two_kernels},
                              {16, LoopChoice::two, LoopForm::two_kernels}};

template <Precision precision>
Verdict cg_has_the_bits_of_the_cpu() {
  if (cuda::device_count() == 0) {
    std::printf("no GPU, or a build without CUDA\n");
    return Verdict::cannot_run;
  }
  const Problem problem;
  OperatorOptions options;
  options.boundary = problem.boundary;
  options.tuning = default_tuning();
  std::array<Found, 3> expected;
  constexpr std::array forms{Reconstruct::none18, Reconstruct::u3_13, Reconstruct::u3_9};
  const CutProblem whole(problem, {});
  for (std::size_t k = 0; k < forms.size(); ++k) {
    OperatorOptions on_cpu = options;
    on_cpu.precision = precision;
    on_cpu.naik_reconstruct = forms[k];
    on_cpu.n_rhs = most_rhs;
    expected[k] = solve(whole, on_cpu, LoopChoice::automatic);
  }
  int cells = 0;
  for (const auto& loopback : {std::array{false, false, false, false},
                               {false, false, false, true},
                               {true, false, true, false},
                               {true, true, true, true}}) {
    const CutProblem cut(problem, loopback);
    options.cuda_device = 0;
    OperatorOptions full = options;  // fp64 and 18 reals: all others are converted from it on the GPU
    full.n_rhs = 1;
    const std::shared_ptr<HopData> from = StaggeredOperator(problem.communicator, cut.links(), full).hop_data();
    for (std::size_t k = 0; k < forms.size(); ++k)
      for (const LoopCase& loop : loops) {
        OperatorOptions on_gpu = options;
        on_gpu.precision = precision;
        on_gpu.naik_reconstruct = forms[k];
        on_gpu.n_rhs = loop.n_rhs;
        const Found found = solve(cut, on_gpu, loop.choice, from);
        const bool good = same_bits(found, expected[k]) && found.form == loop.form;
        std::printf("cut %d%d%d%d, Naik links of %s, %d right-hand sides, %s: %s\n", loopback[0], loopback[1],
                    loopback[2], loopback[3], to_string(forms[k]).c_str(), loop.n_rhs, to_string(found.form).c_str(),
                    good                      ? "the same"
                    : found.form == loop.form ? "OTHER BITS"
                                              : "ANOTHER FORM");
        cells += good;
      }
  }
  return cells == 4 * 3 * int(std::size(loops)) ? Verdict::holds : Verdict::fails;
}

// Links of other sizes and another coefficient in the place of those an operator has: the operator's solves are those
// of a new one. On the CPU, and on a GPU where there is one.
bool reloaded_links_are_those_of_a_new_operator() {
  const Problem problem;
  const CutProblem cut(problem, {false, false, false, true});
  LinkField fat = cut.fat, naik = cut.naik;
  for (std::int64_t site = 0; site < fat.size(); ++site)
    for (int mu = 0; mu < 4; ++mu) {
      for (auto& row : fat[site][mu].e)
        for (Complex<double>& e : row) e = {1.7 * e.re, 1.7 * e.im};
      naik[site][mu] = adjoint(naik[site][mu]);
    }
  const OperatorLinks others(fat, naik, 0.4 * naik_scale);
  bool holds = true;
  for (const int device : {-1, 0})
    for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::fp16})
      for (const Reconstruct form : {Reconstruct::none18, Reconstruct::u3_13, Reconstruct::u3_9}) {
        if (device >= 0 && cuda::device_count() == 0) continue;
        OperatorOptions options;
        options.boundary = problem.boundary;
        options.tuning = default_tuning();
        options.precision = precision;
        options.naik_reconstruct = form;
        options.cuda_device = device;
        StaggeredOperator fresh(problem.communicator, others, options);
        StaggeredOperator reloaded(problem.communicator, cut.links(), options);
        const Found expected = solve(fresh, cut, LoopChoice::automatic);
        const Found before = solve(reloaded, cut, LoopChoice::automatic);
        reloaded.reload(others);
        holds = CHECK(!same_bits(before, expected)) && holds;
        holds = CHECK(same_bits(solve(reloaded, cut, LoopChoice::automatic), expected)) && holds;
      }
  return holds;
}

}  // namespace

std::vector<UnitCheck> improved_cg_checks() {
  return {UNIT_CHECK(reloaded_links_are_those_of_a_new_operator),
          {"improved_cg_has_the_bits_of_the_cpu_fp64", cg_has_the_bits_of_the_cpu<Precision::fp64>},
          {"improved_cg_has_the_bits_of_the_cpu_fp32", cg_has_the_bits_of_the_cpu<Precision::fp32>},
          {"improved_cg_has_the_bits_of_the_cpu_fp16", cg_has_the_bits_of_the_cpu<Precision::fp16>}};
}

}  // namespace staghorn
