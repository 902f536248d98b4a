// Conjugate Gradient wherever it stops: x against the textbook's loop on plain fields, right-hand sides that end at odd
// and even iterations or never begin, alone and in a batch; on a GPU the CPU's bits, as one kernel and as two.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "dirac/fields/plain_algebra.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "solver/krylov/block/block_iteration.hpp"
#include "solver/krylov/block_conjugate_gradient.hpp"
#include "solver/krylov/conjugate_gradient.hpp"
#include "solver/krylov/preconditioned/flexible_cg.hpp"
#include "solver/krylov/reliable_updates.hpp"
#include "solver/krylov/tile/tile_solver.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

constexpr int most_iterations = 7;
constexpr Parity parity = Parity::even;
// The iteration at which each right-hand side ends; 0: it is solved at the start; never: not within most_iterations.
constexpr int never = 100;
constexpr int ends[] = {never, 3, 4, 0, 0, never};
constexpr int n_columns = 6, zero_column = 3, solved_column = 4, guessed_column = 5;

VectorField random_field(const Lattice& lattice, int seed) {
  VectorField v(lattice);
  for (std::int64_t site = 0; site < v.size(); ++site) {
    RandomStream random = test_stream(1000000 * seed + site);
    for (auto& component : v[site].c) component = complex_gaussian(random);
  }
  return v;
}

// One right-hand side of the textbook: x and r after each iteration, |r|.
struct Textbook {
  std::vector<VectorField> x;
  VectorField r0;
  std::vector<double> norm;
};

struct Problem {
  explicit Problem(double mass) : mass(mass), links(lattice) {
    make_random(links);
    for (int i = 0; i < n_columns; ++i) {
      const VectorField zero(lattice), guess = combine(0.25 / (mass * mass), random_field(lattice, 100 + i), 0, zero);
      const bool has_guess = i == solved_column || i == guessed_column;
      VectorField b = random_field(lattice, 10 + i);
      if (i == zero_column) b = zero;
      if (i == solved_column) b = apply(guess);
      columns.push_back(solve(has_guess ? guess : zero, b));
    }
  }

  VectorField apply(const VectorField& v) const {  // A v
    VectorField even = v, tmp(lattice), out(lattice);
    for_others([&](std::int64_t site) { even[site] = {}; });
    plain_hop(communicator, links, boundary, tmp, even);
    plain_hop(communicator, links, boundary, out, tmp);
    return combine(4 * mass * mass, even, -1, out);
  }

  // A right-hand side that ends no longer changes.
  Textbook solve(const VectorField& guess, const VectorField& b) const {
    VectorField x = guess, r = combine(1, b, -1, apply(guess));
    for_others([&](std::int64_t site) { x[site] = r[site] = {}; });
    VectorField p = r;
    Textbook result{{x}, r, {std::sqrt(norm2(communicator, r))}};
    for (int k = 1; k <= most_iterations; ++k) {
      const double before = norm2(communicator, r);
      if (before > 0) {
        const VectorField q = apply(p);
        const double alpha = before / dot(communicator, p, q).re;
        x = combine(1, x, alpha, p);
        r = combine(1, r, -alpha, q);
        p = combine(1, r, norm2(communicator, r) / before, p);
      }
      result.x.push_back(x);
      result.norm.push_back(std::sqrt(norm2(communicator, r)));
    }
    return result;
  }

  template <class Work>
  void for_others(const Work& work) const {
    for (std::int64_t site = 0; site < lattice.local_volume(); ++site)
      if (Lattice::parity_of(lattice.site_coordinates(site)) != parity) work(site);
  }

  VectorField combine(double alpha, const VectorField& a, double beta, const VectorField& b) const {
    VectorField result(lattice);
    for (std::int64_t site = 0; site < result.size(); ++site)
      for (int c = 0; c < 3; ++c)
        result[site].c[c] = {alpha * a[site].c[c].re + beta * b[site].c[c].re,
                             alpha * a[site].c[c].im + beta * b[site].c[c].im};
    return result;
  }

  double mass;
  Communicator communicator{MPI_COMM_SELF};
  Boundary boundary = parse_boundary("periodic,0.3,periodic,antiperiodic");
  Lattice lattice{{4, 6, 2, 8}, {1, 1, 1, 1}, 0};
  LinkField links;
  std::vector<Textbook> columns;
};

// What a right-hand side that ends at iteration `end` is asked for.
double target(const Textbook& column, int end) {
  if (end == never) return 0;
  return end == 0 ? 1e-300 : std::sqrt(column.norm[std::size_t(end - 1)] * column.norm[std::size_t(end)]);
}

struct Found {
  std::vector<VectorField> x;
  std::vector<SolvedRhs> columns;
  LoopForm form = LoopForm::host;
};

// The loop on some of the right-hand sides, again and again with the same vectors.
class Loop {
 public:
  Loop(const Problem& problem, const std::vector<int>& which, const OperatorOptions& options, LoopChoice choice)
      : problem_(problem),
        which_(which),
        choice_(choice),
        d_(problem.communicator, problem.links, options),
        x_(d_.make_solution()),
        work_(d_) {}

  Found run(int max_iterations, const std::vector<int>& ends, bool until_first = false) {
    CgStop stop;
    stop.max_iterations = max_iterations;
    stop.choice = choice_;
    stop.until_first = until_first;
    for (std::size_t i = 0; i < which_.size(); ++i) {
      const Textbook& column = problem_.columns[std::size_t(which_[i])];
      stop.target_norm.push_back(target(column, ends[i]));
      x_.pack(parity, int(i), column.x[0]);
      work_.r.pack(parity, int(i), column.r0);
      work_.p.pack(parity, int(i), column.r0);
    }
    std::vector<ExactSum> sums(which_.size(), ExactSum(1e6));
    const std::vector<double> r2 = d_.norm2(work_.r, sums);
    CgState state{x_, work_.r, work_.p, work_.tmp, r2, r2, &work_.loop};
    CgResult result = conjugate_gradient_loop(parity_system(d_, parity, problem_.mass), state, stop, {});
    Found found{std::vector(which_.size(), VectorField(problem_.lattice)), std::move(result.rhs), result.form};
    for (std::size_t i = 0; i < which_.size(); ++i) x_.unpack(parity, int(i), found.x[i]);
    return found;
  }

 private:
  const Problem& problem_;
  std::vector<int> which_;
  LoopChoice choice_;
  StaggeredOperator d_;
  ColorVectorField x_;
  CgVectors work_;
};

bool same_bits(const VectorField& a, const VectorField& b) {
  return std::memcmp(a.data(), b.data(), std::size_t(a.bytes())) == 0;
}

bool same_bits(const Found& found, std::size_t i, const Found& expected, std::size_t j) {
  return found.columns[i].history == expected.columns[j].history && same_bits(found.x[i], expected.x[j]);
}

// |a - b| / |b|
double deviation(const Problem& problem, const VectorField& a, const VectorField& b) {
  const double difference2 = norm2(problem.communicator, problem.combine(1, a, -1, b));
  return difference2 == 0 ? 0 : std::sqrt(difference2 / norm2(problem.communicator, b));
}

double epsilon(Precision precision) {
  return precision == Precision::fp64   ? std::numeric_limits<double>::epsilon()
         : precision == Precision::fp32 ? std::numeric_limits<float>::epsilon()
                                        : 0x1p-15;
}

// At mass 10 and 100, where A is nearly a multiple of 1, beta is about 1e-3 and 1e-7.
Verdict x_is_right_wherever_cg_stops(Precision precision, double mass, LoopForm form) {
  const bool on_gpu = form != LoopForm::host;
  const LoopChoice choice = form == LoopForm::one_kernel ? LoopChoice::one : LoopChoice::two;
  if (on_gpu && cuda::device_count() == 0) {
    std::printf("no GPU, or a build without CUDA\n");
    return Verdict::cannot_run;
  }
  const Problem problem(mass);
  OperatorOptions options;
  options.tuning = default_tuning();
  options.boundary = problem.boundary;
  options.precision = precision;
  options.n_rhs = n_columns;
  const std::vector<int> all{0, 1, 2, 3, 4, 5}, as_said(std::begin(ends), std::end(ends));
  Loop on_cpu(problem, all, options, choice);
  if (on_gpu) options.cuda_device = 0;
  Loop loop(problem, all, options, choice);
  std::vector<Found> stopped;
  double worst = 0;
  for (int k = 0; k <= most_iterations; ++k) {
    stopped.push_back(loop.run(k, as_said));
    const Found& found = stopped.back();
    if (found.form != form) {
      std::printf("ran as %s instead of %s\n", to_string(found.form).c_str(), to_string(form).c_str());
      return Verdict::fails;
    }
    for (int i = 0; i < n_columns; ++i) {
      const int last = std::min(k, ends[i]);
      if (found.columns[i].iterations != last) {
        std::printf("number %d took %ld iterations of %d\n", i, found.columns[i].iterations, last);
        return Verdict::fails;
      }
      worst = std::max(worst, deviation(problem, found.x[i], problem.columns[i].x[last]));
    }
    if (on_gpu) {
      const Found expected = on_cpu.run(k, as_said);
      for (int i = 0; i < n_columns; ++i)
        if (!same_bits(found, i, expected, i)) {
          std::printf("number %d after %d iterations: other bits than on the CPU\n", i, k);
          return Verdict::fails;
        }
    }
  }
  std::printf("off by %.1f epsilon at worst\n", worst / epsilon(precision));
  if (!(worst < 40 * epsilon(precision))) return Verdict::fails;

  // Alone; and until the first that ends, at an odd and at an even iteration.
  options.n_rhs = 1;
  for (const int i : all) {
    Loop alone(problem, {i}, options, choice);
    for (const int k : {2, 3, 4, most_iterations})
      if (!same_bits(alone.run(k, {ends[i]}), 0, stopped[k], i)) {
        std::printf("number %d after %d iterations: other bits alone\n", i, k);
        return Verdict::fails;
      }
  }
  for (const int end : {3, 4}) {
    std::vector<int> these = as_said;
    if (end == 4) these[1] = never;
    const Found found = loop.run(most_iterations, these, true), expected = loop.run(end, these);
    for (int i = 0; i < n_columns; ++i)
      if (!same_bits(found, i, expected, i)) {
        std::printf("number %d until the first ends at %d: other bits\n", i, end);
        return Verdict::fails;
      }
  }
  return Verdict::holds;
}

// Kernels are loaded by a solve with targets of 0, which are never met.
bool block_cg_ends_where_no_target_can_be_met() {
  const Problem problem(0.3);
  OperatorOptions options;
  options.boundary = problem.boundary;
  options.n_rhs = 2;
  StaggeredOperator d(problem.communicator, problem.links, options);
  options.precision = Precision::fp32;
  StaggeredOperator sloppy(problem.communicator, problem.links, options);
  for (StaggeredOperator* const mixed : {static_cast<StaggeredOperator*>(nullptr), &sloppy}) {
    ColorVectorField x = d.make_solution(), b = d.make_vector();
    x.set_zero();
    for (int i = 0; i < 2; ++i) b.pack(parity, i, problem.columns[std::size_t(i)].r0);
    CgStop stop;
    stop.target_norm = {0, 0};
    stop.max_iterations = 3;
    const CgResult result = make_block_solver(d, mixed)->solve(parity_system(d, parity, problem.mass), x, b, stop, {});
    if (!CHECK(result.rhs[1].iterations == 3) || result.form != LoopForm::block) return false;
  }
  return true;
}

// Iterations in low precision on other links gain nothing. They are given up, and fp64 goes on: in a batch, and in a
// tile for each column by itself.
bool low_precision_that_gains_nothing_gives_way() {
  const Problem problem(0.3);
  LinkField others(problem.lattice);
  make_random(others);
  for (std::int64_t site = 0; site < others.size(); ++site) std::swap(others[site][0], others[site][3]);
  constexpr double tolerance = 1e-9;
  OperatorOptions options;
  options.boundary = problem.boundary;
  StaggeredOperator d(problem.communicator, problem.links, options);
  options.precision = Precision::fp32;
  StaggeredOperator sloppy(problem.communicator, others, options);
  const auto stop_of = [&](int column) {
    CgStop stop;
    stop.target_norm = {tolerance * problem.columns[std::size_t(column)].norm[0]};
    stop.max_iterations = 5000;
    return stop;
  };
  const auto is_right = [&](int column, const ColorVectorField& x, const SolvedRhs& rhs) {
    VectorField solution(problem.lattice);
    x.unpack(parity, 0, solution);
    const Textbook& given = problem.columns[std::size_t(column)];
    const double r2 = norm2(problem.communicator, problem.combine(1, given.r0, -1, problem.apply(solution)));
    return CHECK(std::sqrt(r2) <= 1.01 * tolerance * given.norm[0]) && CHECK(rhs.outcome == CgOutcome::converged) &&
           CHECK(rhs.mismatches.size() >= 4) && CHECK(rhs.updates.size() == rhs.mismatches.size()) &&
           CHECK(rhs.iterations > rhs.updates.back());
  };

  ColorVectorField x = d.make_solution(), b = d.make_vector();
  b.pack(parity, 0, problem.columns[0].r0);
  MixedPrecisionCg batch(d, sloppy);
  const CgResult found = batch.solve(parity_system(d, parity, problem.mass), x, b, stop_of(0), {});
  bool holds = CHECK(found.precise_form == LoopForm::host) && is_right(0, x, found.rhs[0]);

  const auto in_a_tile = [&](const std::vector<int>& columns) {
    OperatorOptions of_all = options;
    of_all.n_rhs = 2;
    StaggeredOperator iterated(problem.communicator, others, of_all);
    const auto tile = make_tile_solver({iterated, d, &sloppy}, parity, problem.mass, LoopChoice::automatic);
    std::vector<ColorVectorField> solutions, sources;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      solutions.push_back(d.make_solution());
      sources.push_back(d.make_vector());
      sources.back().pack(parity, 0, problem.columns[std::size_t(columns[i])].r0);
    }
    for (std::size_t i = 0; i < columns.size(); ++i) tile->begin(int(i), solutions[i], sources[i], stop_of(columns[i]));
    const auto all_done = [&] {
      for (std::size_t i = 0; i < columns.size(); ++i)
        if (!tile->is_done(int(i))) return false;
      return true;
    };
    while (!all_done()) tile->advance({}, nullptr);
    std::vector<VectorField> plain(columns.size(), VectorField(problem.lattice));
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const SolvedRhs rhs = tile->finish(int(i));
      holds = holds && is_right(columns[i], solutions[i], rhs);
      solutions[i].unpack(parity, 0, plain[i]);
    }
    holds = holds && CHECK(tile->precise_form() == "host");
    return plain;
  };
  const std::vector<VectorField> both = in_a_tile({0, 1}), alone = in_a_tile({1});
  for (std::int64_t site = 0; site < both[1].size(); ++site)
    holds = holds && std::memcmp(&both[1][site], &alone[0][site], sizeof alone[0][site]) == 0;
  return holds;
}

// The interval of the polynomial is that of the links that the operator has now, not of those it had before.
bool preconditioner_follows_other_links() {
  const Problem problem(0.3);
  LinkField larger = problem.links;
  for (std::int64_t site = 0; site < larger.size(); ++site)
    for (int mu = 0; mu < 4; ++mu)
      for (auto& row : larger[site][mu].e)
        for (Complex<double>& u : row) u = {3 * u.re, 3 * u.im};
  OperatorOptions options;
  options.boundary = problem.boundary;
  StaggeredOperator d(problem.communicator, problem.links, options), fresh(problem.communicator, larger, options);
  const auto make = [&](StaggeredOperator& of) {
    const auto [entry, n] = preconditioner_of("chebyshev:6");
    return FlexibleCg(of, entry->make(of, nullptr, n));
  };
  FlexibleCg solver = make(d), of_fresh = make(fresh);
  const auto solve = [&](FlexibleCg& cg, StaggeredOperator& of) {
    ColorVectorField x = of.make_solution(), b = of.make_vector();
    b.pack(parity, 0, problem.columns[0].r0);
    CgStop stop;
    stop.target_norm = {1e-9};
    stop.max_iterations = 1000;
    return cg.solve(parity_system(of, parity, problem.mass), x, b, stop, {}).rhs[0];
  };
  const SolvedRhs before = solve(solver, d), expected = solve(of_fresh, fresh);
  d.reload(larger);
  const SolvedRhs after = solve(solver, d);
  return CHECK(before.outcome == CgOutcome::converged) && CHECK(expected.outcome == CgOutcome::converged) &&
         CHECK(after.history == expected.history) && CHECK(before.history != expected.history);
}

// In fp64 most blocks are foreseen, some are made anew, and Q S stays b - A x to the end: its norms are those of S.
bool foreseen_blocks_stay_orthonormal() {
  constexpr int n = 4, iterations = 60;
  const Problem problem(0.1);
  OperatorOptions options;
  options.boundary = problem.boundary;
  options.n_rhs = n;
  StaggeredOperator d(problem.communicator, problem.links, options);
  BlockIteration block(d);
  ColorVectorField x = d.make_solution();
  x.set_zero();
  std::vector<VectorField> b;
  for (int i = 0; i < n; ++i) {
    b.push_back(random_field(problem.lattice, 30 + i));
    problem.for_others([&](std::int64_t site) { b.back()[site] = {}; });
    block.y().pack(parity, i, b.back());
  }
  block.begin(identity(n));
  for (int k = 0; k < iterations; ++k) block.advance(parity_system(d, parity, problem.mass), x);
  std::printf("%ld of %d foreseen\n", block.foreseen(), iterations);
  if (!CHECK(block.foreseen() > iterations / 2) || !CHECK(block.foreseen() < iterations)) return false;
  for (int i = 0; i < n; ++i) {
    VectorField solution(problem.lattice);
    x.unpack(parity, i, solution);
    const double found =
        norm2(problem.communicator, problem.combine(1, b[std::size_t(i)], -1, problem.apply(solution)));
    std::printf("|b - A x|^2 / |b|^2 %.3e, %.3e by S\n", found / norm2(problem.communicator, b[std::size_t(i)]),
                column_norm2(block.s(), i) / norm2(problem.communicator, b[std::size_t(i)]));
    if (!CHECK(std::fabs(column_norm2(block.s(), i) / found - 1) < 1e-9)) return false;
  }
  return true;
}

}  // namespace

std::vector<UnitCheck> cg_checks() {
  std::vector<UnitCheck> checks = {
      UNIT_CHECK(block_cg_ends_where_no_target_can_be_met), UNIT_CHECK(low_precision_that_gains_nothing_gives_way),
      UNIT_CHECK(preconditioner_follows_other_links), UNIT_CHECK(foreseen_blocks_stay_orthonormal)};
  for (const auto& [where, form] : {std::pair<const char*, LoopForm>{"cpu", LoopForm::host},
                                    {"cuda_one", LoopForm::one_kernel},
                                    {"cuda_two", LoopForm::two_kernels}})
    for (const Precision precision : {Precision::fp64, Precision::fp32, Precision::fp16})
      for (const int tenths : {3, 100, 1000}) {
        // At mass 100 fp16 has no iterations to count: all is rounding after the first.
        if (precision == Precision::fp16 && tenths == 1000) continue;
        checks.emplace_back(std::string("cg_") + where + "_" + to_string(precision) + "_mass_" +
                                (tenths == 3     ? "0.3"
                                 : tenths == 100 ? "10"
                                                 : "100"),
                            [=] { return x_is_right_wherever_cg_stops(precision, tenths / 10.0, form); });
      }
  return checks;
}

}  // namespace staghorn
