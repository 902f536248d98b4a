#include "solver/eigen/lanczos_basis.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "dirac/algebra/block_cholesky.hpp"
#include "dirac/algebra/philox.hpp"
#include "halo/watch/activity.hpp"

namespace staghorn {

namespace {

constexpr int tile = VectorAlgebra::max_columns;
constexpr int columns_at_once = 16, rows_at_once = 64;  // of a combination
// What is left of a vector, over its length: a random one of which no more is left depends on the others to within
// rounding, and where no more is left of T v the basis reaches no further.
double dependent(Precision precision) { return precision == Precision::fp64 ? 1e-10 : 1e-5; }
double exhausted(Precision precision) { return precision == Precision::fp64 ? 1e-12 : 1e-6; }

// Vectors first ... last - 1.
template <class Vectors>
auto pointers(Vectors& vectors, int first, int last) {
  std::vector<decltype(vectors.data())> some;
  for (int i = first; i < last; ++i) some.push_back(&vectors[std::size_t(i)]);
  return some;
}

// 1 on the diagonal.
ComplexMatrix unit(int rows, int columns) {
  ComplexMatrix one(rows, columns);
  for (int i = 0; i < std::min(rows, columns); ++i) one(i, i).re = 1;
  return one;
}

}  // namespace

void draw_gaussian(VectorField& plain, Parity parity, std::uint64_t seed, std::uint32_t number) {
  const Lattice& lattice = plain.lattice();
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < plain.size(); ++site) {
    const Coordinates x = lattice.to_global(lattice.site_coordinates(site));
    if (Lattice::parity_of(x) != parity) continue;
    RandomStream random(seed, RandomPurpose::lanczos_start, number, std::uint64_t(lattice.global_site_index(x)));
    for (Complex<double>& c : plain[site].c) c = complex_gaussian(random);
  }
}

void draw_gaussian(const StaggeredOperator& d, ColorVectorField& v, Parity parity, std::uint64_t seed,
                   std::uint32_t number, int rhs) {
  VectorField plain(d.lattice());
  draw_gaussian(plain, parity, seed, number);
  if (d.options().cuda_device >= 0)
    v.pack(parity, rhs, VectorField(plain, MemorySpace::cuda));
  else
    v.pack(parity, rhs, plain);
}

LanczosBasis::LanczosBasis(StaggeredOperator& d, Parity parity, int size, std::uint64_t seed)
    : d_(d),
      parity_(parity),
      seed_(seed),
      algebra_(d.communicator(), d.layout(), d.kernels()),
      scales_(std::size_t(size / tile + 1)) {
  d.communicator().agree([&] {
    for (int i = 0; i < size; ++i) vectors_.push_back(d.make_vector());
  });
}

std::int64_t LanczosBasis::bytes() const {
  return std::int64_t(vectors_.size() + spare_.size()) * (vectors_.empty() ? 0 : vectors_[0].bytes());
}

void LanczosBasis::visit(const Archive& archive) {
  archive("drawn", drawn_);
  archive("scales", scales_, scales_.size());  // the last bits of products depend on them
}

ComplexMatrix LanczosBasis::take_out(int first, int last, int n, int count) {
  ComplexMatrix products(last - first, count);
  const auto some = [&](int begin, int most) { return pointers(vectors_, begin, std::min(last, begin + most)); };
  ColumnScales scales;
  for (int i = first; i < last; i += tile) {
    // scales are kept where a tile begins as it always does
    const ComplexMatrix part = algebra_.gram(some(i, tile), pointers(vectors_, n, n + count),
                                             i % tile == 0 ? &scales_[std::size_t(i / tile)] : nullptr, &scales);
    std::copy(part.elements.begin(), part.elements.end(),
              products.elements.begin() + std::ptrdiff_t(i - first) * count);
  }
  for (int i = first; i < last; i += rows_at_once) {
    const std::vector<ColorVectorField*> others = some(i, rows_at_once);
    ComplexMatrix minus(int(others.size()), count);
    for (int row = 0; row < minus.rows; ++row)
      for (int j = 0; j < count; ++j) {
        const Complex<double>& c = products(i - first + row, j);
        minus(row, j) = {-c.re, -c.im};
      }
    algebra_.combine(others, minus, pointers(vectors_, n, n + count), true);
  }
  return products;
}

double LanczosBasis::norm(int n) const {
  const ColorVectorField& v = vectors_[std::size_t(n)];
  return std::sqrt(algebra_.dot(v, v)[0].re);
}

void LanczosBasis::scale(int n, double factor) {
  ColorVectorField& v = vectors_[std::size_t(n)];
  d_.combine(0, v, factor, v);
}

LanczosBasis::Block LanczosBasis::orthonormalize(int n, int count) {
  const Activity activity("orthogonalisation");
  Block found{ComplexMatrix(count, count), identity(count)};
  std::vector<double> before;
  for (int j = 0; j < count; ++j) before.push_back(norm(n + j));
  found.count = count;
  for (int pass = 0; pass < 2 && found.count > 0; ++pass) {
    const ComplexMatrix products = take_out(0, n, n, found.count);
    for (int i = std::max(0, count - n); pass == 0 && i < count; ++i)
      for (int j = 0; j < count; ++j) found.along(i, j) = products(n - count + i, j);
    ComplexMatrix triangle(count, count);
    int kept = 0;
    for (int j = 0; j < found.count; ++j) {
      const ComplexMatrix of_block = take_out(n, n + kept, n + j, 1);
      for (int i = 0; i < kept; ++i) triangle(i, j) = of_block(i, 0);
      if (kept < j) continue;  // there is no more space
      const double left = norm(n + j);
      if (pass == 1 || left > exhausted(d_.options().precision) * before[std::size_t(j)]) {
        scale(n + j, 1 / left);
        triangle(j, j).re = left;
        ++kept;
      } else if (draw(n + j)) {
        ++found.drawn, ++kept;
      }
    }
    found.count = kept;
    found.triangle = product(triangle, found.triangle);
  }
  made_progress();
  return found;
}

double LanczosBasis::reduce_to_rest(int n) {
  for (int pass = 0; pass < 2; ++pass) take_out(0, n, n, 1);
  const double left = norm(n);
  if (left > 0) scale(n, 1 / left);
  return left;
}

bool LanczosBasis::draw(int n) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    draw_gaussian(d_, vectors_[std::size_t(n)], parity_, seed_, drawn_++);
    const double before = norm(n);
    // once more, for a large part may have been taken out
    if (reduce_to_rest(n) > dependent(d_.options().precision) * before && reduce_to_rest(n) > 0.5) return true;
  }
  return false;
}

void LanczosBasis::combine(const ComplexMatrix& rows, int first_row, int columns,
                           std::span<ColorVectorField* const> to) {
  for (int first = 0; first < rows.columns; first += rows_at_once) {
    const int last = std::min(rows.columns, first + rows_at_once);
    ComplexMatrix c(last - first, columns);
    for (int j = first; j < last; ++j)
      for (int i = 0; i < columns; ++i) c(j - first, i) = rows(first_row + i, j);
    algebra_.combine(pointers(vectors_, first, last), c, to, first > 0);
  }
}

void LanczosBasis::combine(const ComplexMatrix& rows, std::vector<ColorVectorField>& blocks) {
  int first_row = 0;
  for (ColorVectorField& block : blocks) {
    ColorVectorField* const to[] = {&block};
    combine(rows, first_row, block.n_rhs(), to);
    first_row += block.n_rhs();
  }
}

void LanczosBasis::gather(int first, int count, ColorVectorField& block) const {
  ColorVectorField* const to[] = {&block};
  algebra_.combine(pointers(vectors_, first, first + count), unit(count, block.n_rhs()), to);
}

void LanczosBasis::scatter(const ColorVectorField& block, int first, int count) {
  const ColorVectorField* const from[] = {&block};
  algebra_.combine(from, unit(block.n_rhs(), count), pointers(vectors_, first, first + count));
}

void LanczosBasis::rotate(const ComplexMatrix& rows, int following) {
  const Activity activity("rotation of the basis");
  d_.communicator().agree([&] {
    while (int(spare_.size()) < rows.rows) spare_.push_back(d_.make_vector());
  });
  for (int first_row = 0; first_row < rows.rows; first_row += columns_at_once) {
    const int last_row = std::min(rows.rows, first_row + columns_at_once);
    combine(rows, first_row, last_row - first_row, pointers(spare_, first_row, last_row));
    made_progress();
  }
  for (int i = 0; i < following; ++i)
    std::swap(vectors_[std::size_t(rows.rows + i)], vectors_[std::size_t(rows.columns + i)]);
  for (int i = 0; i < rows.rows; ++i) std::swap(vectors_[std::size_t(i)], spare_[std::size_t(i)]);
}

}  // namespace staghorn
