// Dot products, Gram matrices and linear combinations of every instruction set and of the GPU, to the last bit: against
// the formula written once more on plain fields, for every precision, on lattices with and without virtual nodes.
#include <omp.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "dirac/kernels/kernel_table.hpp"
#include "dirac/operators/vector_algebra.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "halo/watch/error.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

constexpr Precision precisions[] = {Precision::fp64, Precision::fp32, Precision::fp16};
constexpr Extents lattices[] = {{2, 2, 2, 2}, {4, 2, 6, 10}, {8, 8, 4, 4}, {2, 16, 4, 2}};
constexpr Parity parity = Parity::odd;

// Numbers of all sizes: by column over 2^(+-12), by site over 2^20.
VectorField test_vector(const Lattice& lattice, int column) {
  VectorField v(lattice);
  for (std::int64_t site = 0; site < v.size(); ++site) {
    RandomStream random = test_stream(std::uint64_t(1000000 * (column + 1) + site));
    const int exponent = int(random.bits() % 20) - 10 + column % 5 * 6 - 12;
    for (auto& component : v[site].c) {
      const Complex<double> z = complex_gaussian(random);
      component = {std::ldexp(z.re, exponent), std::ldexp(z.im, exponent)};
    }
  }
  return v;
}

// Fields of the kernels with these right-hand sides: all but the last column in one, the last in another.
struct Columns {
  Columns(const SiteLayout& layout, Precision precision, MemorySpace space, PinnedPieces& pieces, int first,
          int count) {
    const int sizes[] = {count > 1 ? count - 1 : count, count > 1 ? 1 : 0};
    for (const int size : sizes) {
      if (size == 0) continue;
      fields.emplace_back(layout, precision, size, space, &pieces);
      for (int rhs = 0; rhs < size; ++rhs) fields.back().pack(parity, rhs, test_vector(layout.lattice(), first++));
    }
  }
  std::vector<const ColorVectorField*> read() const {
    std::vector<const ColorVectorField*> list;
    for (const ColorVectorField& field : fields) list.push_back(&field);
    return list;
  }
  std::vector<ColorVectorField*> written() {
    std::vector<ColorVectorField*> list;
    for (ColorVectorField& field : fields) list.push_back(&field);
    return list;
  }
  std::vector<VectorField> plain() const {
    std::vector<VectorField> list;
    for (const ColorVectorField& field : fields)
      for (int rhs = 0; rhs < field.n_rhs(); ++rhs) {
        list.emplace_back(field.layout().lattice());
        field.unpack(parity, rhs, list.back());
      }
    return list;
  }

  std::vector<ColorVectorField> fields;
};

// sum conj(a) b by the formula of cell_products.hpp, of numbers divided by the powers of two.
Complex<double> plain_product(const VectorField& a, const VectorField& b, int scale_a, int scale_b) {
  const Lattice& lattice = a.lattice();
  const Extents& extents = lattice.local();
  const SumGrid grid = SumGrid::for_bound(0x1p13);
  const double factor_a = std::ldexp(1.0, -scale_a), factor_b = std::ldexp(1.0, -scale_b);
  ExactPartial re, im;
  for (std::int64_t cell = 0; cell < lattice.local_volume() / 16; ++cell) {
    const Coordinates first = unravel(cell, {extents[0] / 2, extents[1] / 2, extents[2] / 2, extents[3] / 2});
    double rr = 0, ii = 0, mixed = 0;
    for (int s = 0; s < 8; ++s) {
      Coordinates x = {2 * first[0], 2 * first[1] + s % 2, 2 * first[2] + s / 2 % 2, 2 * first[3] + s / 4};
      if (Lattice::parity_of(x) != parity) ++x[0];
      for (int c = 0; c < 3; ++c) {
        const Complex<double> u = a[lattice.site_index(x)].c[c], v = b[lattice.site_index(x)].c[c];
        const double u_re = factor_a * u.re, u_im = factor_a * u.im;
        const double v_re = factor_b * v.re, v_im = factor_b * v.im;
        rr = std::fma(u_re, v_re, rr);
        ii = std::fma(u_im, v_im, ii);
        mixed = std::fma(u_re + u_im, v_re - v_im, mixed);
      }
    }
    re.add(rr + ii, grid);
    im.add((rr - ii) - mixed, grid);
  }
  const Communicator communicator(MPI_COMM_SELF);
  ExactPartial partials[] = {re, im};
  const SumGrid grids[] = {grid, grid};
  double values[2];
  reduce(communicator, partials, grids, values);
  return {std::ldexp(values[0], scale_a + scale_b), std::ldexp(values[1], scale_a + scale_b)};
}

bool same(const Complex<double>& found, const Complex<double>& expected, const char* what, int i, int j) {
  if (found.re == expected.re && found.im == expected.im) return true;
  std::printf("%s %d %d: (%a, %a), expected (%a, %a)\n", what, i, j, found.re, found.im, expected.re, expected.im);
  return false;
}

// y + sum_i x_i c_i over i from `first` on, of one column and component, in the arithmetic of `Real`.
template <class Real>
Complex<Real> plain_combination(const std::vector<VectorField>& x, const ComplexMatrix& c, int first, int j,
                                std::int64_t site, int color, Complex<Real> y) {
  for (int i = first; i < c.rows; ++i) {
    const Complex<double>& element = x[std::size_t(i)][site].c[color];
    y = multiply_add(Complex<Real>{Real(c(i, j).re), Real(c(i, j).im)},
                     Complex<Real>{Real(element.re), Real(element.im)}, y);
  }
  return y;
}

// Which kernels, and whether this machine can run them; prints why not.
const KernelTable* find_kernels(const std::string& name) {
  if (name == "cuda") {
    if (cuda::device_count() == 0) {
      std::printf("no GPU, or a build without CUDA\n");
      return nullptr;
    }
    cuda::select_device(0);
    return &cuda_kernels();
  }
  try {
    return &cpu_kernels(name);
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
    return nullptr;
  }
}

bool check_products(const VectorAlgebra& algebra, const Columns& a, const Columns& b) {
  const std::vector<VectorField> u = a.plain(), v = b.plain();
  ColumnScales scales_a, scales_b, scales;
  const ComplexMatrix all = algebra.gram(a.read(), b.read(), &scales_a, &scales_b);
  const ComplexMatrix hermitian = algebra.gram(a.read(), &scales);
  bool holds = scales == scales_a && scales_a.size() == u.size() && scales_b.size() == v.size();
  for (int i = 0; i < all.rows; ++i) {
    for (int j = 0; j < all.columns; ++j)
      holds &= same(all(i, j), plain_product(u[i], v[j], scales_a[i], scales_b[j]), "gram", i, j);
    for (int j = i; j < all.rows; ++j) {
      Complex<double> expected = plain_product(u[i], u[j], scales[i], scales[j]);
      if (i == j) expected.im = 0;
      holds &= same(hermitian(i, j), expected, "hermitian gram", i, j);
      holds &= same(hermitian(j, i), {expected.re, -expected.im}, "hermitian gram", j, i);
    }
  }
  // The pairs of equal number, field by field.
  int column = 0;
  for (std::size_t f = 0; f < a.fields.size() && f < b.fields.size(); ++f) {
    if (a.fields[f].n_rhs() != b.fields[f].n_rhs()) break;
    ColumnScales dot_a, dot_b;
    const auto dots = algebra.dot(a.fields[f], b.fields[f], &dot_a, &dot_b);
    for (std::size_t r = 0; r < dots.size(); ++r, ++column)
      holds &= same(dots[r], plain_product(u[column], v[column], dot_a[r], dot_b[r]), "dot", column, column);
  }
  return holds && (column > 0 || a.fields[0].n_rhs() != b.fields[0].n_rhs());
}

// y = x c and grown += x c, where x begins with column first_x.
bool check_combination(const VectorAlgebra& algebra, const Columns& x, Columns& y, Columns& grown, int first_x) {
  const auto all = [&] {
    std::vector<VectorField> fields = y.plain();
    for (const VectorField& field : grown.plain()) fields.push_back(field);
    return fields;
  };
  const std::vector<VectorField> from = x.plain(), before = all();
  const int written = int(y.plain().size());
  ComplexMatrix c(int(from.size()), int(before.size()));
  RandomStream random = test_stream(7);
  for (auto& element : c.elements) element = complex_gaussian(random);
  algebra.combine(x.read(), c, y.written(), grown.written(), first_x);
  const Precision precision = x.fields[0].precision();
  const std::vector<VectorField> after = all();
  for (int j = 0; j < c.columns; ++j) {
    // What the field's precision makes of the numbers: for fp16 by packing them.
    VectorField expected(before[j].lattice());
    for (std::int64_t site = 0; site < expected.size(); ++site)
      for (int color = 0; color < 3; ++color) {
        const int first = j < written ? 0 : first_x;
        const Complex<double> y0 = j < written ? Complex<double>{} : before[j][site].c[color];
        if (precision == Precision::fp64) {
          expected[site].c[color] = plain_combination<double>(from, c, first, j, site, color, y0);
        } else {
          const auto sum = plain_combination<float>(from, c, first, j, site, color, {float(y0.re), float(y0.im)});
          expected[site].c[color] = {sum.re, sum.im};
        }
      }
    if (precision == Precision::fp16) {
      const SiteLayout layout = cpu_kernels("baseline").layout(expected.lattice(), precision);
      ColorVectorField stored(layout, precision, 1);
      stored.pack(parity, 0, expected);
      stored.unpack(parity, 0, expected);
    }
    for (std::int64_t site = 0; site < expected.size(); ++site) {
      if (Lattice::parity_of(expected.lattice().site_coordinates(site)) != parity) continue;
      for (int color = 0; color < 3; ++color)
        if (!same(after[j][site].c[color], expected[site].c[color], "combination", j, int(site))) return false;
    }
  }
  return true;
}

// The second field of y is the second of three of x, of which the third is added to another: the fields are those of a
// call that writes elsewhere.
bool check_in_place(const SiteLayout& layout, Precision precision, const KernelTable& kernels,
                    const VectorAlgebra& algebra, PinnedPieces& pieces, int n) {
  const auto make = [&](int first) {
    ColorVectorField field(layout, precision, n, kernels.space, &pieces);
    for (int rhs = 0; rhs < n; ++rhs) field.pack(parity, rhs, test_vector(layout.lattice(), first + rhs));
    return field;
  };
  const ColorVectorField a = make(0), b = make(20), c = make(40);
  ColorVectorField y = make(80), in_place = make(20), grown_beside = make(60), elsewhere = make(100),
                   y_beside = make(80), grown_with = make(60);
  ComplexMatrix all(3 * n, 3 * n);
  RandomStream random = test_stream(8);
  for (auto& element : all.elements) element = complex_gaussian(random);
  const ColorVectorField *beside[] = {&a, &b, &c}, *with[] = {&a, &in_place, &c};
  ColorVectorField *to_beside[] = {&y_beside, &elsewhere}, *to[] = {&y, &in_place}, *more_beside[] = {&grown_beside},
                   *more[] = {&grown_with};
  algebra.combine(beside, all, to_beside, more_beside, 2 * n);
  algebra.combine(with, all, to, more, 2 * n);
  VectorField found(layout.lattice()), expected(layout.lattice());
  for (const auto& [one, other] : {std::pair(&y, &y_beside), {&in_place, &elsewhere}, {&grown_with, &grown_beside}})
    for (int rhs = 0; rhs < n; ++rhs) {
      one->unpack(parity, rhs, found);
      other->unpack(parity, rhs, expected);
      for (std::int64_t site = 0; site < found.size(); ++site)
        for (int color = 0; color < 3; ++color)
          if (!same(found[site].c[color], expected[site].c[color], "combination in place", rhs, int(site)))
            return false;
    }
  return true;
}

Verdict check_vectors(const std::string& name) {
  const KernelTable* kernels = find_kernels(name);
  if (!kernels) return Verdict::cannot_run;
  const Communicator communicator(MPI_COMM_SELF);
  PinnedPieces pieces;
  int cells = 0;
  constexpr std::pair<int, int> shapes[] = {{1, 1}, {2, 2}, {5, 7}, {11, 3}, {32, 32}};
  for (const Extents& extents : lattices)
    for (const Precision precision : precisions) {
      const Lattice lattice(extents, {1, 1, 1, 1}, 0);
      const SiteLayout layout = kernels->layout(lattice, precision);
      const VectorAlgebra algebra(communicator, layout, *kernels);
      for (const auto& [n, m] : shapes) {
        if (n == 32 && volume(extents) > 16) continue;
        omp_set_num_threads(1 + cells % 2);  // threads must not matter
        const Columns a(layout, precision, kernels->space, pieces, 0, n);
        Columns b(layout, precision, kernels->space, pieces, 50, m),
            none(layout, precision, kernels->space, pieces, 0, 0),
            some(layout, precision, kernels->space, pieces, 90, m / 2),
            others(layout, precision, kernels->space, pieces, 130, m - m / 2);
        if (!check_products(algebra, a, b) || !check_combination(algebra, a, b, none, 0) ||
            !check_combination(algebra, a, none, b, 0) || !check_combination(algebra, a, some, others, n / 2)) {
          std::printf("%s, %s, %d x %d columns\n", to_string(extents).c_str(), to_string(precision).c_str(), n, m);
          return Verdict::fails;
        }
        ++cells;
      }
      for (const int n : {1, 3, 8, 11, 16})
        if (precision != Precision::fp16 && !check_in_place(layout, precision, *kernels, algebra, pieces, n)) {
          std::printf("%s, %s, %d columns in place\n", to_string(extents).c_str(), to_string(precision).c_str(), n);
          return Verdict::fails;
        }
    }
  std::printf("%d cells\n", cells);
  return cells == 3 * (4 * 4 + 1) ? Verdict::holds : Verdict::fails;
}

// Columns of small whole numbers times powers of two, whose products are exact at any scale; of zeros; and of numbers
// among which one is NaN or infinite. These spoil their own products alone.
Verdict check_scales(const std::string& name, int threads) {
  const KernelTable* kernels = find_kernels(name);
  if (!kernels) return Verdict::cannot_run;
  omp_set_num_threads(threads);
  const Communicator communicator(MPI_COMM_SELF);
  PinnedPieces pieces;
  const Lattice lattice({4, 4, 4, 4}, {1, 1, 1, 1}, 0);
  const SiteLayout layout = kernels->layout(lattice, Precision::fp64);
  const VectorAlgebra algebra(communicator, layout, *kernels);
  constexpr int exponents[] = {0, 40, -40, 450, -450}, numbers = 5, zero = 5, columns = 8;
  ColorVectorField field(layout, Precision::fp64, columns, kernels->space, &pieces);
  VectorField v(lattice);
  double norm2 = 0;
  for (std::int64_t site = 0; site < v.size(); ++site)
    for (int c = 0; c < 3; ++c) {
      v[site].c[c] = {double(site % 7) - 3, double((site + c) % 5) - 2};
      if (Lattice::parity_of(lattice.site_coordinates(site)) == parity)
        norm2 += v[site].c[c].re * v[site].c[c].re + v[site].c[c].im * v[site].c[c].im;
    }
  for (int i = 0; i < numbers; ++i) field.pack(parity, i, v, std::ldexp(1.0, exponents[i]));
  field.pack(parity, zero, VectorField(lattice));
  const std::int64_t spoiled = lattice.site_index({1, 0, 0, 0});
  v[spoiled].c[1].im = -std::numeric_limits<double>::quiet_NaN();
  field.pack(parity, zero + 1, v);
  v[spoiled].c[1].im = -std::numeric_limits<double>::infinity();
  field.pack(parity, zero + 2, v);

  const ColorVectorField* fields[] = {&field};
  ColumnScales scales;
  const ComplexMatrix first = algebra.gram(fields, &scales), again = algebra.gram(fields, &scales),
                      two = algebra.gram(fields, fields);
  const std::vector<Complex<double>> dots = algebra.dot(field, field);
  for (int i = 0; i < columns; ++i)
    for (int j = 0; j < columns; ++j) {
      Complex<double> expected = {0, 0};
      if (i < numbers && j < numbers) expected.re = std::ldexp(norm2, exponents[i] + exponents[j]);
      for (const ComplexMatrix* found : {&first, &again, &two}) {
        const Complex<double> z = (*found)(i, j);
        if (i > zero || j > zero ? !CHECK(std::isnan(z.re + z.im)) : !same(z, expected, "gram", i, j))
          return Verdict::fails;
      }
      if (i == j && (i > zero ? !CHECK(std::isnan(dots[i].re)) : !same(dots[i], expected, "dot", i, i)))
        return Verdict::fails;
    }
  return Verdict::holds;
}

template <class Work>
bool throws(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
    return true;
  }
  return false;
}

bool vector_algebra_refuses_fields_that_do_not_fit() {
  const Communicator communicator(MPI_COMM_SELF);
  const KernelTable& kernels = cpu_kernels("baseline");
  const Lattice lattice({4, 4, 4, 4}, {1, 1, 1, 1}, 0), larger({4, 4, 4, 8}, {1, 1, 1, 1}, 0);
  const SiteLayout layout = kernels.layout(lattice, Precision::fp64), other = kernels.layout(larger, Precision::fp64);
  const VectorAlgebra algebra(communicator, layout, kernels);
  const ColorVectorField one(layout, Precision::fp64, 1), two(layout, Precision::fp64, 2),
      many(layout, Precision::fp64, 33), elsewhere(other, Precision::fp64, 1), single(layout, Precision::fp32, 1);
  ColorVectorField target(layout, Precision::fp64, 1);
  using List = std::vector<const ColorVectorField*>;
  ColorVectorField other_target(layout, Precision::fp64, 1);
  ColorVectorField *targets[] = {&target}, *others[] = {&other_target}, *twice[] = {&target, &other_target};
  return CHECK(throws([&] { algebra.dot(one, two); })) && CHECK(throws([&] { algebra.gram(List{&many}); })) &&
         CHECK(throws([&] { algebra.gram(List{}); })) && CHECK(throws([&] { algebra.dot(one, elsewhere); })) &&
         CHECK(throws([&] { algebra.gram(List{&one}, List{&single}); })) &&
         CHECK(throws([&] { algebra.combine(List{&two}, ComplexMatrix(1, 1), targets); })) &&
         CHECK(throws([&] { algebra.combine(List{&target}, ComplexMatrix(1, 1), {}, targets, 0); })) &&
         CHECK(throws([&] {
           algebra.combine(List{&one, &target}, ComplexMatrix(2, 2), targets, others, 1);
         })) &&
         CHECK(throws([&] { algebra.combine(List{&target}, ComplexMatrix(1, 2), twice, {}, 0); })) &&
         CHECK(!throws([&] { algebra.combine(List{&target}, ComplexMatrix(1, 1), targets); })) &&
         CHECK(!throws([&] { algebra.combine(List{&two}, ComplexMatrix(2, 1), targets); }));
}

}  // namespace

std::vector<UnitCheck> vector_algebra_checks() {
  std::vector<UnitCheck> checks;
  for (const std::string name : {"baseline", "avx2", "avx512", "cuda"}) {
    checks.emplace_back("products_and_combinations_" + name, [name] { return check_vectors(name); });
    for (const int threads : {1, 2, 3})
      checks.emplace_back("products_find_their_scales_" + name + "_" + std::to_string(threads) + "_threads",
                          [name, threads] { return check_scales(name, threads); });
  }
  checks.push_back(UNIT_CHECK(vector_algebra_refuses_fields_that_do_not_fit));
  return checks;
}

}  // namespace staghorn
