// A basis of blocks by itself: what P, E(0) and its pairs are, and that nothing depends on the gauge.
#include <cmath>
#include <cstdio>

#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/fields/plain_algebra.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "solver/krylov/coarse/coarse_deflation.hpp"
#include "solver/krylov/coarse/coarse_solve.hpp"
#include "solver/krylov/coarse/near_null_vectors.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

constexpr Parity parity = BlockBasis::parity;
constexpr int n = 5;
constexpr double mass = 0.1, naik_scale = -0.3;
constexpr double stored = 0x1p-23;  // E(0) is stored in fp32

double norm(const CoarseVector& v) {
  double sum = 0;
  for (const double number : v.numbers()) sum += number * number;
  return std::sqrt(sum);
}

double difference(CoarseVector a, const CoarseVector& b) {
  for (std::size_t i = 0; i < a.numbers().size(); ++i) a.numbers()[i] -= b.numbers()[i];
  return norm(a);
}

// Blocks of which some neighbours come twice around the lattice, and some are their own.
struct Problem {
  explicit Problem(Stencil stencil, const Extents& block = {4, 4, 4, 4}) : block(block) {
    if (stencil == Stencil::improved)
      make_random_improved(near, naik);
    else
      make_random(near);
    improved = stencil == Stencil::improved;
    for (int k = 0; k < n; ++k) {
      vectors.emplace_back(lattice);
      draw(vectors.back(), k);
    }
  }
  void draw(VectorField& v, int number) const {
    for (std::int64_t site = 0; site < v.size(); ++site) {
      RandomStream random = test_stream(std::uint64_t(1000000 * (number + 1) + site));
      for (auto& component : v[site].c) component = complex_gaussian(random);
    }
  }
  OperatorLinks links() const { return improved ? OperatorLinks(near, naik, naik_scale) : OperatorLinks(near); }
  BlockBasis basis() const {
    BlockBasis made(BlockGrid(lattice, block), n);
    for (int k = 0; k < n; ++k) made.set_column(k, vectors[std::size_t(k)]);
    made.orthonormalize();
    return made;
  }
  CoarseVector random_coarse(const BlockBasis& made) const {
    VectorField v(lattice);
    draw(v, 50);
    CoarseVector c(made.grid().count(), n, 1);
    made.restrict_to(v, c, 0);
    return c;
  }
  // P^+ A P c, by the plain operator
  CoarseVector through_the_lattice(const BlockBasis& made, double m, const CoarseVector& c) const {
    VectorField v(lattice), zero(lattice), r(lattice);
    made.prolong(c, 0, v);
    parity_residual(communicator, links(), boundary, m, parity, v, zero, r);  // -A v
    CoarseVector result = c;
    made.restrict_to(r, result, 0);
    for (double& number : result.numbers()) number = -number;
    return result;
  }

  Communicator communicator{MPI_COMM_SELF};
  Boundary boundary = parse_boundary("periodic,antiperiodic,0.3,antiperiodic");
  Extents block;
  Lattice lattice{{8, 4, 12, 16}, {1, 1, 1, 1}, 0};
  LinkField near{lattice}, naik{lattice};
  bool improved = false;
  std::vector<VectorField> vectors;
};

bool columns_of_blocks_are_orthonormal_and_hold_their_vectors() {
  const Problem problem(Stencil::naive);
  const BlockBasis basis = problem.basis();
  const CoarseVector c = problem.random_coarse(basis);
  VectorField v(problem.lattice);
  basis.prolong(c, 0, v);
  CoarseVector again = c;
  basis.restrict_to(v, again, 0);
  bool holds = CHECK(difference(again, c) <= 1e-14 * norm(c)) && CHECK(norm(c) > 1);  // P^+ P = 1
  for (const VectorField& vector : problem.vectors) {                                 // P P^+ v = v
    basis.restrict_to(vector, again, 0);
    basis.prolong(again, 0, v);
    add(v, -1, vector);
    holds =
        holds && CHECK(norm2(problem.communicator, v, parity) <= 1e-26 * norm2(problem.communicator, vector, parity));
  }
  return holds;
}

bool a_vector_given_twice_becomes_columns_of_zeros() {
  Problem problem(Stencil::naive);
  problem.vectors[3] = problem.vectors[1];
  BlockBasis basis(BlockGrid(problem.lattice, problem.block), n);
  for (int k = 0; k < n; ++k) basis.set_column(k, problem.vectors[std::size_t(k)]);
  const std::int64_t zero = basis.orthonormalize();
  VectorField v(problem.lattice);
  basis.column(3, v);
  return CHECK(zero == basis.grid().count()) && CHECK(norm2(problem.communicator, v) == 0);
}

bool coarse_matrix_is_that_of_the_lattice(Stencil stencil, const Extents& block) {
  const Problem problem(stencil, block);
  const BlockBasis basis = problem.basis();
  const CoarseMatrix matrix(problem.communicator, problem.links(), problem.boundary, basis);
  const CoarseVector c = problem.random_coarse(basis);
  CoarseVector product = c;
  matrix.apply(c, product);
  const double size = norm(product);
  bool holds = CHECK(difference(problem.through_the_lattice(basis, 0, c), product) <= stored * size);  // P^+ K P
  CoarseVector shifted = product;
  add_scaled(std::vector<Complex<double>>{{4 * mass * mass, 0}}, c, shifted);
  holds = holds && CHECK(difference(problem.through_the_lattice(basis, mass, c), shifted) <= stored * size);
  std::printf("%d blocks in a row, |E c| %.3g |c|\n", matrix.neighbours(), size / norm(c));
  return holds;
}

bool coarse_matrix_of_naive_quarks_is_that_of_the_lattice() {
  return coarse_matrix_is_that_of_the_lattice(Stencil::naive, {4, 4, 4, 4}) &&
         coarse_matrix_is_that_of_the_lattice(Stencil::naive, {2, 2, 6, 8});
}

bool coarse_matrix_of_improved_quarks_is_that_of_the_lattice() {
  return coarse_matrix_is_that_of_the_lattice(Stencil::improved, {4, 4, 4, 4}) &&
         coarse_matrix_is_that_of_the_lattice(Stencil::improved, {2, 4, 6, 2}) &&
         coarse_matrix_is_that_of_the_lattice(Stencil::improved, {8, 4, 12, 16});
}

bool coarse_matrix_does_not_depend_on_the_gauge() {
  Problem problem(Stencil::naive);
  const CoarseMatrix before(problem.communicator, problem.links(), problem.boundary, problem.basis());
  LinkField rotation(problem.lattice);  // mu = 0 of it
  make_random(rotation);
  LinkField rotated = problem.near;
  for (int mu = 0; mu < 4; ++mu) {
    const NeighbourSites<Links> ahead(problem.communicator, rotation, mu, +1);
    for (std::int64_t site = 0; site < rotated.size(); ++site)  // U -> g U g^+
      rotated[site][mu] = rotation[site][0] * problem.near[site][mu] * adjoint(ahead[site][0]);
  }
  problem.near = rotated;
  for (VectorField& v : problem.vectors)
    for (std::int64_t site = 0; site < v.size(); ++site) {
      ColorVector<double> w{};
      multiply_add(w, rotation[site][0], v[site]);
      v[site] = w;
    }
  const BlockBasis basis = problem.basis();
  const CoarseMatrix after(problem.communicator, problem.links(), problem.boundary, basis);
  const CoarseVector c = problem.random_coarse(basis);
  CoarseVector first = c, second = c;
  before.apply(c, first);
  after.apply(c, second);
  return CHECK(difference(first, second) <= 1e-12 * norm(first)) && CHECK(norm(first) > norm(c));
}

// Of vectors near the null space, whose coarse matrix has small eigenvalues.
bool coarse_pairs_are_those_of_their_space_and_make_solves_short() {
  Problem problem(Stencil::naive);
  StaggeredOperator d(problem.communicator, problem.links(), [&] {
    OperatorOptions options;
    options.boundary = problem.boundary;
    options.n_rhs = n;
    return options;
  }());
  const Eigenpairs vectors = find_near_null_vectors(d, n, 60, 3, {}, nullptr);
  for (int k = 0; k < n; ++k) vectors.blocks[0].unpack(parity, k, problem.vectors[std::size_t(k)]);
  const BlockBasis basis = problem.basis();
  const CoarseMatrix matrix(problem.communicator, problem.links(), problem.boundary, basis);
  const CoarsePairs pairs = find_coarse_pairs(matrix, 8);
  bool holds = CHECK(pairs.values.size() == 8) && CHECK(pairs.values.front() > 0);
  std::vector<const CoarseVector*> all;
  for (const CoarseVector& u : pairs.vectors) all.push_back(&u);
  CoarseVector product = matrix.make_vector(1);
  for (std::size_t i = 0; i < all.size(); ++i) {
    matrix.apply(*all[i], product);
    const auto one = coarse_dots(problem.communicator, all, *all[i]),
               t = coarse_dots(problem.communicator, all, product);
    for (std::size_t j = 0; j < all.size(); ++j) {
      const double delta = i == j, value = delta * pairs.values[i];
      holds = holds && CHECK(std::hypot(one[j].re - delta, one[j].im) <= 1e-12) &&
              CHECK(std::hypot(t[j].re - value, t[j].im) <= 1e-12 * pairs.largest);
    }
  }
  // The lowest is an eigenvalue: no vector of the space has a smaller quotient.
  matrix.apply(*all[0], product);
  add_scaled(std::vector<Complex<double>>{{-pairs.values[0], 0}}, *all[0], product);
  std::printf("lowest %.4g with residual %.2g, largest %.4g\n", pairs.values[0], norm(product), pairs.largest);
  holds = holds && CHECK(norm(product) <= 1e-3 * pairs.values[0]);

  const CoarseVector b = problem.random_coarse(basis);
  CoarseVector x = b;
  const double shift = 1e-3;
  const long with = solve_coarse(matrix, pairs, shift, b, x, 1e-8, 1000);
  matrix.apply(x, product);
  add_scaled(std::vector<Complex<double>>{{shift, 0}}, x, product);
  holds = holds && CHECK(difference(product, b) <= 1.01e-8 * norm(b));
  const long without = solve_coarse(matrix, find_coarse_pairs(matrix, 0), shift, b, x, 1e-8, 1000);
  std::printf("%ld iterations with 8 pairs, %ld without\n", with, without);
  return holds && CHECK(with < without);
}

// P^+ r = 0 after any number of iterations of deflated CG, where coarse solves are exact.
bool the_residual_of_deflated_cg_has_no_part_in_the_space_of_blocks() {
  const Problem problem(Stencil::improved);
  StaggeredOperator d(problem.communicator, problem.links(), [&] {
    OperatorOptions options;
    options.boundary = problem.boundary;
    return options;
  }());
  CoarseSpace space(problem.communicator, problem.links(), problem.boundary, problem.basis(), MemorySpace::host, 8);
  CoarseDeflatedCg cg(d, space, 1e-12);
  ColorVectorField x = d.make_vector(), b = d.make_vector(), r = d.make_vector(), tmp = d.make_vector();
  VectorField source(problem.lattice), plain(problem.lattice);
  problem.draw(source, 70);
  b.pack(parity, 0, source);
  const ParitySystem system = parity_system(d, parity, mass);
  bool holds = true;
  double before = 1e300;
  for (const long iterations : {0, 1, 2, 5, 20}) {
    CgStop stop;
    stop.target_norm = {0};
    stop.max_iterations = iterations;
    x.set_zero();
    cg.solve(system, x, b, stop, {});
    std::vector<ExactSum> sums(1, ExactSum(1));
    const double r_norm = std::sqrt(residual(system, x, b, r, tmp, sums)[0]);
    r.unpack(parity, 0, plain);
    CoarseVector part = space.matrix().make_vector(1);
    space.basis().restrict_to(plain, part, 0);
    holds = holds && CHECK(norm(part) <= stored * r_norm) && CHECK(r_norm < before);
    before = r_norm;
  }
  return holds;
}

}  // namespace

std::vector<UnitCheck> coarse_checks() {
  return {UNIT_CHECK(columns_of_blocks_are_orthonormal_and_hold_their_vectors),
          UNIT_CHECK(a_vector_given_twice_becomes_columns_of_zeros),
          UNIT_CHECK(coarse_matrix_of_naive_quarks_is_that_of_the_lattice),
          UNIT_CHECK(coarse_matrix_of_improved_quarks_is_that_of_the_lattice),
          UNIT_CHECK(coarse_matrix_does_not_depend_on_the_gauge),
          UNIT_CHECK(coarse_pairs_are_those_of_their_space_and_make_solves_short),
          UNIT_CHECK(the_residual_of_deflated_cg_has_no_part_in_the_space_of_blocks)};
}

}  // namespace staghorn
