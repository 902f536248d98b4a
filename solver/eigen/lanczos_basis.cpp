#include "solver/eigen/lanczos_basis.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "dirac/algebra/philox.hpp"
#include "halo/watch/activity.hpp"

namespace staghorn {

namespace {

constexpr int tile = VectorAlgebra::max_columns;
constexpr int columns_at_once = 16, rows_at_once = 64;  // of a combination
// A vector of which less than this is left depends on the others to within rounding.
constexpr double dependent = 1e-10;

}  // namespace

void draw_gaussian(const StaggeredOperator& d, ColorVectorField& v, Parity parity, std::uint64_t seed,
                   std::uint32_t number) {
  const Lattice& lattice = d.lattice();
  VectorField plain(lattice);
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < plain.size(); ++site) {
    const Coordinates x = lattice.to_global(lattice.site_coordinates(site));
    if (Lattice::parity_of(x) != parity) continue;
    RandomStream random(seed, RandomPurpose::lanczos_start, number, std::uint64_t(lattice.global_site_index(x)));
    for (Complex<double>& c : plain[site].c) c = complex_gaussian(random);
  }
  if (d.options().cuda_device >= 0)
    v.pack(parity, 0, VectorField(plain, MemorySpace::cuda));
  else
    v.pack(parity, 0, plain);
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

void LanczosBasis::put_into(SearchNumbers& numbers) const {
  numbers["basis.drawn"] = {double(drawn_)};
  for (std::size_t tile = 0; tile < scales_.size(); ++tile)  // the last bits of products depend on them
    numbers["basis.scales" + std::to_string(tile)].assign(scales_[tile].begin(), scales_[tile].end());
}

void LanczosBasis::take_from(const SearchNumbers& numbers) {
  drawn_ = std::uint32_t(get_number(numbers, "basis.drawn"));
  for (std::size_t tile = 0; tile < scales_.size(); ++tile) {
    scales_[tile].clear();
    for (const double scale : get(numbers, "basis.scales" + std::to_string(tile))) scales_[tile].push_back(int(scale));
  }
}

double LanczosBasis::take_out(int n) {
  const ColorVectorField* const vector[] = {&vectors_[std::size_t(n)]};
  ColorVectorField* const target[] = {&vectors_[std::size_t(n)]};
  std::vector<Complex<double>> products;
  std::vector<const ColorVectorField*> others;
  ColumnScales scale;
  for (int first = 0; first < n; first += tile) {
    others.clear();
    for (int i = first; i < std::min(n, first + tile); ++i) others.push_back(&vectors_[std::size_t(i)]);
    const ComplexMatrix part = algebra_.gram(others, vector, &scales_[std::size_t(first / tile)], &scale);
    products.insert(products.end(), part.elements.begin(), part.elements.end());
  }
  for (int first = 0; first < n; first += rows_at_once) {
    others.clear();
    for (int i = first; i < std::min(n, first + rows_at_once); ++i) others.push_back(&vectors_[std::size_t(i)]);
    ComplexMatrix minus(int(others.size()), 1);
    for (int i = 0; i < minus.rows; ++i) {
      const Complex<double>& c = products[std::size_t(first + i)];
      minus(i, 0) = {-c.re, -c.im};
    }
    algebra_.combine(others, minus, target, true);
  }
  return n > 0 ? products.back().re : 0;
}

LanczosBasis::Remainder LanczosBasis::orthonormalize(int n) {
  const Activity activity("orthogonalisation");
  ColorVectorField& v = vectors_[std::size_t(n)];
  const auto norm = [&] { return std::sqrt(algebra_.dot(v, v)[0].re); };
  Remainder found;
  found.before = norm();
  found.along = take_out(n);
  take_out(n);
  found.norm = norm();
  if (found.norm > 0) d_.combine(0, v, 1 / found.norm, v);
  made_progress();
  return found;
}

bool LanczosBasis::draw(int n) {
  for (int attempt = 0; attempt < 3; ++attempt) {
    draw_gaussian(d_, vectors_[std::size_t(n)], parity_, seed_, drawn_++);
    const Remainder found = orthonormalize(n);
    // once more, for a large part may have been taken out
    if (found.norm > dependent * found.before && orthonormalize(n).norm > 0.5) return true;
  }
  return false;
}

void LanczosBasis::combine(const RealMatrix& rows, std::vector<ColorVectorField>& blocks) {
  int first_row = 0;
  for (ColorVectorField& block : blocks) {
    for (int first = 0; first < rows.columns; first += rows_at_once) {
      const int last = std::min(rows.columns, first + rows_at_once);
      std::vector<const ColorVectorField*> from;
      for (int j = first; j < last; ++j) from.push_back(&vectors_[std::size_t(j)]);
      ComplexMatrix c(last - first, block.n_rhs());
      for (int j = first; j < last; ++j)
        for (int i = 0; i < block.n_rhs(); ++i) c(j - first, i).re = rows(first_row + i, j);
      ColorVectorField* const target[] = {&block};
      algebra_.combine(from, c, target, first > 0);
    }
    first_row += block.n_rhs();
  }
}

void LanczosBasis::rotate(const RealMatrix& rows) {
  const Activity activity("rotation of the basis");
  d_.communicator().agree([&] {
    while (int(spare_.size()) < rows.rows) spare_.push_back(d_.make_vector());
  });
  for (int first_row = 0; first_row < rows.rows; first_row += columns_at_once) {
    const int last_row = std::min(rows.rows, first_row + columns_at_once);
    std::vector<ColorVectorField*> to;
    for (int i = first_row; i < last_row; ++i) to.push_back(&spare_[std::size_t(i)]);
    for (int first = 0; first < rows.columns; first += rows_at_once) {
      const int last = std::min(rows.columns, first + rows_at_once);
      std::vector<const ColorVectorField*> from;
      for (int j = first; j < last; ++j) from.push_back(&vectors_[std::size_t(j)]);
      ComplexMatrix c(last - first, last_row - first_row);
      for (int j = first; j < last; ++j)
        for (int i = first_row; i < last_row; ++i) c(j - first, i - first_row).re = rows(i, j);
      algebra_.combine(from, c, to, first > 0);
    }
    made_progress();
  }
  std::swap(vectors_[std::size_t(rows.rows)], vectors_[std::size_t(rows.columns)]);
  for (int i = 0; i < rows.rows; ++i) std::swap(vectors_[std::size_t(i)], spare_[std::size_t(i)]);
}

}  // namespace staghorn
