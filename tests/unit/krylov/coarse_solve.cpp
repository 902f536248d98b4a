// Flexible CG on a coarse grid, on any process grid that cuts no aggregate, for test_coarse_solves.py:
//
//   coarse_solve X Y Z T GX GY GZ GT N
//
// The operator is P^+ A P with A = 4m^2 - D^2 on both parities. P has 2 N orthonormal columns on each aggregate of 4^4
// sites: the even and the odd sites of N vectors near the low modes. Prints iterations, the residual, and a sum over
// all bits of the solutions, with a preconditioner that differs from call to call and without.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "dirac/algebra/philox.hpp"
#include "dirac/gauge/heatbath.hpp"
#include "dirac/operators/plain_operator.hpp"
#include "halo/watch/error.hpp"
#include "solver/krylov/preconditioned/flexible_cg_loop.hpp"

using namespace staghorn;

namespace {

constexpr int n_rhs = 2, side = 4, smoothing_steps = 20;
constexpr double mass = 0.05, tolerance = 1e-6, largest_eigenvalue = 64,
                 step_size = 0.125;  // P leaves no eigenvalue above 16

// [right-hand side][aggregate][component].
struct CoarseVector {
  std::vector<std::vector<Complex<double>>> columns;
  void copy_from(const CoarseVector& other) { columns = other.columns; }
};

class CoarseSystem final : public LinearSystem<CoarseVector> {
 public:
  CoarseSystem(const Communicator& communicator, const Lattice& lattice, int n)
      : communicator_(communicator), links_(lattice), fine_(lattice), hopped_(lattice), hopped_twice_(lattice) {
    set_hot(links_, 5);
    for (std::int64_t site = 0; site < lattice.local_volume(); ++site) sites_of(site).push_back(site);
    for (int k = 0; k < n; ++k) {
      fine_ = random_vector(k);
      for (int step = 0; step < smoothing_steps; ++step) smooth();
      for (const Parity parity : {Parity::even, Parity::odd}) columns_.push_back(on_parity(fine_, parity));
    }
    for (std::size_t a = 0; a < aggregates_.size(); ++a) orthonormalise(a);
  }

  CoarseVector make_vector() const {
    return {std::vector(n_rhs, std::vector<Complex<double>>(aggregates_.size() * columns_.size()))};
  }

  double least_eigenvalue() const override { return 4 * mass * mass; }

  std::vector<double> norm2(const CoarseVector& v, std::span<ExactSum>) override { return dot(v, v); }

  std::vector<double> dot(const CoarseVector& a, const CoarseVector& b) override {
    std::vector<double> dots, of_aggregates(aggregates_.size());
    for (int i = 0; i < n_rhs; ++i) {
      for (std::size_t k = 0; k < of_aggregates.size(); ++k) {
        Complex<double> sum{};
        for (std::size_t c = k * columns_.size(); c < (k + 1) * columns_.size(); ++c)
          sum = conjugate_multiply_subtract(a.columns[i][c], b.columns[i][c], sum);
        of_aggregates[k] = -sum.re;
      }
      dots.push_back(exact_sum(communicator_, of_aggregates));
    }
    return dots;
  }

  std::vector<double> product(const CoarseVector& p, std::span<const double>, std::span<ExactSum>) override {
    A_p_ = apply(p);
    return dot(p, A_p_);
  }

  std::vector<double> update_residual(CoarseVector& r, const CoarseVector&, std::span<const double> alpha,
                                      std::span<ExactSum>) override {
    for (int i = 0; i < n_rhs; ++i) add(-alpha[i], A_p_.columns[i], r.columns[i]);
    return dot(r, r);
  }

  std::vector<double> update_direction(CoarseVector& x, CoarseVector& p, const CoarseVector& z,
                                       std::span<const double> alpha, std::span<const double> beta,
                                       std::span<ExactSum>) override {
    for (int i = 0; i < n_rhs; ++i) {
      add(alpha[i], p.columns[i], x.columns[i]);
      std::vector<Complex<double>> next = z.columns[i];
      add(beta[i], p.columns[i], next);
      p.columns[i] = std::move(next);
    }
    return dot(p, p);
  }

  // P^+ A P v
  CoarseVector apply(const CoarseVector& v) {
    CoarseVector result = make_vector();
    for (int i = 0; i < n_rhs; ++i) {
      prolong(v.columns[i]);
      hop_twice(4 * mass * mass, -1);
      restrict_to(result.columns[i]);
    }
    return result;
  }

  // P^+ of random vectors, the same on every process grid.
  CoarseVector random_source() {
    CoarseVector result = make_vector();
    for (int i = 0; i < n_rhs; ++i) {
      fine_ = random_vector(100 + i);
      restrict_to(result.columns[i]);
    }
    return result;
  }

  static void add(double factor, const std::vector<Complex<double>>& v, std::vector<Complex<double>>& to) {
    for (std::size_t k = 0; k < v.size(); ++k)
      to[k] = {multiply_add(factor, v[k].re, to[k].re), multiply_add(factor, v[k].im, to[k].im)};
  }

  // A sum over all numbers that changes with each bit and each place.
  std::int64_t sum_of_bits(const CoarseVector& v) const {
    std::uint64_t sum = 0;
    for (int i = 0; i < n_rhs; ++i)
      for (std::size_t k = 0; k < v.columns[i].size(); ++k) {
        const std::uint64_t aggregate = std::uint64_t(global_site(aggregates_[k / columns_.size()].front()));
        std::uint64_t place = (aggregate * n_rhs + std::uint64_t(i)) * columns_.size() + k % columns_.size();
        for (const double real : {v.columns[i][k].re, v.columns[i][k].im})
          sum += (__builtin_bit_cast(std::uint64_t, real) >> 8) * (4 * ++place + 1) >> 8;
      }
    return communicator_.sum(std::int64_t(sum));
  }

 private:
  const Lattice& lattice() const { return fine_.lattice(); }
  std::int64_t global_site(std::int64_t site) const {
    return lattice().global_site_index(lattice().to_global(lattice().site_coordinates(site)));
  }
  std::vector<std::int64_t>& sites_of(std::int64_t site) {
    const Coordinates x = lattice().site_coordinates(site);
    std::size_t aggregate = 0, count = 1;
    for (int mu = 0; mu < 4; ++mu) {
      const int here = lattice().local()[mu] / side;
      if (lattice().local()[mu] % side != 0 || lattice().origin()[mu] % side != 0)
        throw Error("parts of ranks", "whole aggregates", to_string(lattice().local()));
      aggregate += std::size_t(x[mu] / side) * count;
      count *= std::size_t(here);
    }
    aggregates_.resize(count);
    return aggregates_[aggregate];
  }

  VectorField random_vector(int number) const {
    VectorField v(lattice());
    for (std::int64_t site = 0; site < v.size(); ++site) {
      RandomStream random(12, RandomPurpose::hot_start, std::uint32_t(number), std::uint64_t(global_site(site)));
      for (auto& component : v[site].c) component = complex_gaussian(random);
    }
    return v;
  }
  VectorField on_parity(const VectorField& v, Parity parity) const {
    VectorField result(lattice());
    for (std::int64_t site = 0; site < v.size(); ++site)
      if (Lattice::parity_of(lattice().site_coordinates(site)) == parity) result[site] = v[site];
    return result;
  }

  // fine_ = factor fine_ + other D^2 fine_
  void hop_twice(double factor, double other) {
    plain_hop(communicator_, links_, boundary_, hopped_, fine_);
    plain_hop(communicator_, links_, boundary_, hopped_twice_, hopped_);
    for (std::int64_t site = 0; site < fine_.size(); ++site)
      for (int c = 0; c < 3; ++c) {
        Complex<double>&f = fine_[site].c[c], &twice = hopped_twice_[site].c[c];
        f = {multiply_add(factor, f.re, other * twice.re), multiply_add(factor, f.im, other * twice.im)};
      }
  }
  // A step towards the low modes of -D^2.
  void smooth() { hop_twice(1, 1 / largest_eigenvalue); }

  // (column k, with) on aggregate a.
  Complex<double> product_within(std::size_t a, std::size_t k, const VectorField& with) const {
    Complex<double> sum{};
    for (const std::int64_t site : aggregates_[a])
      for (int c = 0; c < 3; ++c) sum = conjugate_multiply_subtract(columns_[k][site].c[c], with[site].c[c], sum);
    return {-sum.re, -sum.im};
  }
  void orthonormalise(std::size_t a) {
    for (std::size_t k = 0; k < columns_.size(); ++k) {
      for (std::size_t l = 0; l < k; ++l) scale_and_add(a, k, 1, l, product_within(a, l, columns_[k]));
      scale_and_add(a, k, 1 / std::sqrt(product_within(a, k, columns_[k]).re), 0, {});
    }
  }
  // column k = factor (column k) - product (column l)
  void scale_and_add(std::size_t a, std::size_t k, double factor, std::size_t l, const Complex<double>& product) {
    for (const std::int64_t site : aggregates_[a])
      for (int c = 0; c < 3; ++c) {
        Complex<double>& v = columns_[k][site].c[c];
        v = multiply_add({-product.re, -product.im}, columns_[l][site].c[c], {factor * v.re, factor * v.im});
      }
  }

  void prolong(const std::vector<Complex<double>>& v) {
    const std::size_t n = columns_.size();
#pragma omp parallel for
    for (std::size_t a = 0; a < aggregates_.size(); ++a)
      for (const std::int64_t site : aggregates_[a]) {
        fine_[site] = {};
        for (std::size_t k = 0; k < n; ++k)
          for (int c = 0; c < 3; ++c)
            fine_[site].c[c] = multiply_add(columns_[k][site].c[c], v[a * n + k], fine_[site].c[c]);
      }
  }
  void restrict_to(std::vector<Complex<double>>& v) const {
    const std::size_t n = columns_.size();
#pragma omp parallel for
    for (std::size_t a = 0; a < aggregates_.size(); ++a)
      for (std::size_t k = 0; k < n; ++k) v[a * n + k] = product_within(a, k, fine_);
  }

  const Communicator& communicator_;
  LinkField links_;
  const Boundary boundary_ = parse_boundary("periodic,periodic,periodic,antiperiodic");
  VectorField fine_, hopped_, hopped_twice_;
  std::vector<VectorField> columns_;                   // of P, on all aggregates
  std::vector<std::vector<std::int64_t>> aggregates_;  // their sites, in the order of coordinates
  CoarseVector A_p_;
};

int run(const Communicator& communicator, char** argv) {
  const auto extents = [&](int first) {
    return Extents{std::atoi(argv[first]), std::atoi(argv[first + 1]), std::atoi(argv[first + 2]),
                   std::atoi(argv[first + 3])};
  };
  CoarseSystem system(communicator, Lattice(extents(1), extents(5), communicator.rank()), std::atoi(argv[9]));
  const CoarseVector b = system.random_source();
  CgStop stop;
  for (const double b2 : system.dot(b, b)) {
    stop.target_norm.push_back(tolerance * std::sqrt(b2));
    stop.source_norm2.push_back(b2);
  }
  for (const int most_steps : {0, 3}) {
    int calls = 0;
    // Steps of Richardson's iteration, z += (r - A z) / 8: one, or in turn one to four.
    const auto precondition = [&](CoarseVector& z, const CoarseVector& r) {
      z = system.make_vector();
      for (int step = 0; step <= calls % (most_steps + 1); ++step) {
        const CoarseVector A_z = system.apply(z);
        for (int i = 0; i < n_rhs; ++i) {
          CoarseSystem::add(step_size, r.columns[i], z.columns[i]);
          CoarseSystem::add(-step_size, A_z.columns[i], z.columns[i]);
        }
      }
      ++calls;
    };
    CoarseVector x = system.make_vector();
    FlexibleCgVectors<CoarseVector> work{x, x, x, x};
    const CgResult result = flexible_cg_loop<CoarseVector>(system, work, precondition, x, b, stop, {});
    CoarseVector r = system.apply(x);
    for (int i = 0; i < n_rhs; ++i) {
      for (auto& number : r.columns[i]) number = {-number.re, -number.im};
      CoarseSystem::add(1, b.columns[i], r.columns[i]);
    }
    const std::vector<double> r2 = system.dot(r, r);
    const std::int64_t bits = system.sum_of_bits(x);
    for (std::size_t i = 0; i < r2.size() && communicator.is_root(); ++i)
      std::printf("%d %s %ld %a %lld\n", most_steps, to_string(result.rhs[i].outcome).c_str(), result.rhs[i].iterations,
                  std::sqrt(r2[i] / stop.source_norm2[i]), (long long)bits);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 10) return 2;
  const MpiSession mpi;
  const Communicator communicator(MPI_COMM_WORLD);
  try {
    return run(communicator, argv);
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
