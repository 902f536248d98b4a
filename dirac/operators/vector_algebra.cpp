#include "dirac/operators/vector_algebra.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "dirac/kernels/cell_products.hpp"
#include "dirac/kernels/kernel_table.hpp"
#include "dirac/kernels/vector_kernels.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

static_assert(VectorAlgebra::max_columns == max_columns && VectorAlgebra::max_combined == max_combined &&
              VectorAlgebra::max_products == max_products && VectorAlgebra::max_grown == max_grown);

namespace {

constexpr int largest_scale = 600;  // beyond, the square of a number as large as the scale overflows once more

Buffer on_device(const SiteCells& cells, MemorySpace space) {
  if (space != MemorySpace::cuda) return Buffer();
  Buffer host(std::size_t(cells.count) * sizeof(std::int32_t), MemorySpace::host);
  for (std::int64_t cell = 0; cell < cells.count; ++cell)
    reinterpret_cast<std::int32_t*>(host.data())[cell] = cells.places[std::size_t(cell) * SiteCells::sites];
  Buffer device(host.bytes(), space);
  device.copy_from(host);
  return device;
}

}  // namespace

struct VectorAlgebra::State {
  State(const Communicator& communicator, const SiteLayout& layout, const KernelTable& table)
      : communicator(communicator),
        layout(layout),
        kernels(vector_kernels(table)),
        cells(layout),
        device_cells(on_device(cells, table.space)),
        scratch(std::size_t(kernels.scratch_bytes), table.space),
        scratch_host(std::size_t(kernels.scratch_bytes),
                     table.space == MemorySpace::cuda ? MemorySpace::pinned : MemorySpace::host) {}

  const Communicator& communicator;
  const SiteLayout& layout;
  const VectorKernels& kernels;
  const SiteCells cells;
  const Buffer device_cells;
  mutable Buffer scratch, scratch_host;

  std::vector<VectorColumn> columns(Fields fields, Precision precision, int most) const;
  std::vector<Complex<double>> products(bool all_pairs, Precision precision, std::vector<VectorColumn> a,
                                        std::vector<VectorColumn> b, ColumnScales* scales_a, ColumnScales* scales_b,
                                        const std::function<void()>& meanwhile = {}) const;
};

// The columns of the fields, which must fit the object and each other.
std::vector<VectorColumn> VectorAlgebra::State::columns(Fields fields, Precision precision, int most) const {
  std::vector<VectorColumn> result;
  for (const ColorVectorField* field : fields) {
    if (field->layout().lattice() != layout.lattice() || field->layout().lanes() != layout.lanes())
      throw Error("fields of vector algebra", "the layout that it was made for", "another");
    if (field->precision() != precision)
      throw Error("fields of vector algebra", to_string(precision), to_string(field->precision()));
    const std::int64_t vector_bytes = std::int64_t{layout.lanes()} * bytes_per_vector(precision);  // of one block
    for (int rhs = 0; rhs < field->n_rhs(); ++rhs)
      result.push_back({const_cast<std::byte*>(static_cast<const std::byte*>(field->data())) + rhs * vector_bytes,
                        field->n_rhs() * vector_bytes});
  }
  if (result.empty() || result.size() > std::size_t(most))
    throw Error("columns of vector algebra", "1 to " + std::to_string(most), std::to_string(result.size()));
  return result;
}

namespace {

// One operand of a call: its columns as a pass reads them, their scales, and what the kernel found.
class Operand {
 public:
  Operand(std::vector<VectorColumn> given, ColumnScales* kept)
      : given_(std::move(given)),
        columns_(given_),
        scales_(kept && kept->size() == given_.size() ? *kept : ColumnScales(given_.size())),
        refused_(given_.size()),
        kept_(kept) {}
  ~Operand() {
    if (kept_) *kept_ = scales_;
  }

  // Before a pass. In the place of a refused column stands another: its limbs would mean nothing to the kernel.
  void begin() {
    largest_.assign(given_.size(), 0.0);
    const std::size_t other = std::size_t(std::find(refused_.begin(), refused_.end(), false) - refused_.begin());
    for (std::size_t i = 0; i < given_.size(); ++i) {
      const std::size_t read = refused_[i] && other < given_.size() ? other : i;
      columns_[i] = given_[read];
      columns_[i].scale = scale(read, -1);
    }
  }
  // Appends to `flags`, whose sum over ranks is taken, for each column: does some cell not fit, does some cell reach
  // the least norm, is some cell not zero.
  void tell(std::vector<std::int64_t>& flags) const {
    for (const double norm2 : largest_) {
      flags.push_back(!(norm2 <= CellGrid::most));
      flags.push_back(norm2 >= CellGrid::least);
      flags.push_back(norm2 != 0);
    }
  }
  // Reads the sums of its flags. Returns whether another pass is needed, with the scales for it. Collective.
  bool rescale(const Communicator& communicator, std::span<const std::int64_t> flags) {
    bool again = false;
    for (std::size_t i = 0; i < given_.size(); ++i) {
      const bool too_large = flags[3 * i] > 0, large_enough = flags[3 * i + 1] > 0, zero = flags[3 * i + 2] == 0;
      if (refused_[i] || zero || (large_enough && !too_large)) continue;
      const double norm2 = communicator.max(largest_[i]);
      if (std::isfinite(norm2)) {
        const int exponent = std::ilogb(norm2) / 2;
        if (scales_[i] + exponent < -largest_scale) continue;  // numbers this small stay as they are
        scales_[i] += exponent;
      } else if (scales_[i] < largest_scale) {
        scales_[i] = largest_scale;
      } else {
        refused_[i] = true;
        scales_[i] = 0;
      }
      again = true;
    }
    return again;
  }

  std::span<const VectorColumn> columns() const { return columns_; }
  double* largest() { return largest_.data(); }
  // What a sum is multiplied with for each column that it is of: NaN where the column holds NaN or infinity.
  std::vector<double> scales_of_sums() const {
    std::vector<double> result(given_.size(), std::numeric_limits<double>::quiet_NaN());
    for (std::size_t i = 0; i < result.size(); ++i)
      if (!refused_[i]) result[i] = scale(i, 1);
    return result;
  }

 private:
  double scale(std::size_t i, int sign) const { return std::ldexp(1.0, sign * scales_[i]); }

  const std::vector<VectorColumn> given_;
  std::vector<VectorColumn> columns_;
  ColumnScales scales_;
  std::vector<bool> refused_;  // columns that hold NaN or infinity
  std::vector<double> largest_;
  ColumnScales* kept_;
};

}  // namespace

// One product for each pair, [i] or [i][j].
std::vector<Complex<double>> VectorAlgebra::State::products(bool all_pairs, Precision precision,
                                                            std::vector<VectorColumn> a, std::vector<VectorColumn> b,
                                                            ColumnScales* scales_a, ColumnScales* scales_b,
                                                            const std::function<void()>& meanwhile) const {
  const std::size_t rows = a.size(), per_row = !all_pairs ? 1 : b.empty() ? rows : b.size(), pairs = rows * per_row;
  const bool hermitian = b.empty();  // then pairs below the diagonal stay zero
  Operand left(std::move(a), scales_a), right(std::move(b), scales_b);
  std::vector<ExactPartial> partials;
  std::vector<std::int64_t> flags;
  bool first = true;
  for (bool again = true; again; first = false) {  // ends: scales settle in two passes, refused columns stay refused
    left.begin(), right.begin();
    partials.assign(2 * pairs, {});
    ProductCall call;
    call.precision = precision;
    call.a = left.columns(), call.b = right.columns();
    call.cells = &cells;
    call.device_cells = reinterpret_cast<const std::int32_t*>(device_cells.data());
    call.lanes = layout.lanes();
    call.re = partials.data(), call.im = partials.data() + pairs;
    call.largest_a = left.largest(), call.largest_b = right.largest();
    call.scratch = scratch.data(), call.scratch_host = scratch_host.data();
    const bool calls = meanwhile && first, on_gpu = scratch.space() == MemorySpace::cuda;
    if (calls && on_gpu) call.meanwhile = &meanwhile;
    (all_pairs ? kernels.gram : kernels.dot)(call);
    if (calls && !on_gpu) meanwhile();
    flags.clear();
    left.tell(flags), right.tell(flags);
    communicator.sum(flags);
    const bool left_again = left.rescale(communicator, std::span(flags).first(3 * rows));
    const bool right_again = right.rescale(communicator, std::span(flags).subspan(3 * rows));
    again = left_again || right_again;
  }

  // The pairs that the kernel made, real parts before imaginary ones.
  const auto first_of_row = [&](std::size_t i) { return hermitian ? i : 0; };
  std::vector<ExactPartial> wanted;
  wanted.reserve(2 * pairs);
  for (const std::size_t part : {std::size_t{0}, pairs})
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = first_of_row(i); j < per_row; ++j) wanted.push_back(partials[part + i * per_row + j]);
  const std::vector<SumGrid> grids(wanted.size(), SumGrid::for_bound(CellGrid::bound));
  std::vector<double> sums(wanted.size());
  reduce(communicator, wanted, grids, sums);

  const std::vector<double> scales = left.scales_of_sums(), other_scales = hermitian ? scales : right.scales_of_sums();
  std::vector<Complex<double>> values(pairs);
  const double *re = sums.data(), *im = re + sums.size() / 2;
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = first_of_row(i); j < per_row; ++j) {
      const double other = other_scales[all_pairs ? j : i];
      values[i * per_row + j] = {*re++ * scales[i] * other, *im++ * scales[i] * other};
    }
  return values;
}

VectorAlgebra::VectorAlgebra(const Communicator& communicator, const SiteLayout& layout, const KernelTable& kernels)
    : state_(std::make_unique<State>(communicator, layout, kernels)) {}
VectorAlgebra::~VectorAlgebra() = default;

std::vector<Complex<double>> VectorAlgebra::dot(const ColorVectorField& a, const ColorVectorField& b,
                                                ColumnScales* scales_a, ColumnScales* scales_b) const {
  const ColorVectorField *left[] = {&a}, *right[] = {&b};
  if (a.n_rhs() != b.n_rhs())
    throw Error("right-hand sides of a dot product", std::to_string(a.n_rhs()), std::to_string(b.n_rhs()));
  return state_->products(false, a.precision(), state_->columns(left, a.precision(), max_rhs),
                          state_->columns(right, a.precision(), max_rhs), scales_a, scales_b);
}

ComplexMatrix VectorAlgebra::gram(Fields a, Fields b, ColumnScales* scales_a, ColumnScales* scales_b) const {
  const Precision precision = a.empty() ? Precision::fp64 : a[0]->precision();
  std::vector<VectorColumn> right = state_->columns(b, precision, max_columns),
                            left = state_->columns(a, precision, right.size() == 1 ? max_products : max_columns);
  ComplexMatrix result(int(left.size()), int(right.size()));
  result.elements = state_->products(true, precision, std::move(left), std::move(right), scales_a, scales_b);
  return result;
}

ComplexMatrix VectorAlgebra::gram(Fields a, ColumnScales* scales, const std::function<void()>& meanwhile) const {
  const Precision precision = a.empty() ? Precision::fp64 : a[0]->precision();
  std::vector<VectorColumn> columns = state_->columns(a, precision, max_columns);
  const int n = int(columns.size());
  ComplexMatrix result(n, n);
  result.elements = state_->products(true, precision, std::move(columns), {}, scales, nullptr, meanwhile);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) result(i, j) = {result(j, i).re, -result(j, i).im};
  return result;
}

void VectorAlgebra::combine(Fields x, const ComplexMatrix& c, Targets y, bool add) const {
  add ? combine(x, c, {}, y, 0, true) : combine(x, c, y, {}, 0, true);
}

void VectorAlgebra::combine(Fields x, const ComplexMatrix& c, Targets y, Targets grown, int first_x) const {
  combine(x, c, y, grown, first_x, false);
}

void VectorAlgebra::combine(Fields x, const ComplexMatrix& c, Targets y, Targets grown, int first_x, bool waits) const {
  const Precision precision = x.empty() ? Precision::fp64 : x[0]->precision();
  std::vector<const ColorVectorField*> targets(y.begin(), y.end());
  targets.insert(targets.end(), grown.begin(), grown.end());
  const int most = y.empty() || grown.empty() ? max_columns : max_columns + max_grown;
  const std::vector<VectorColumn> from = state_->columns(x, precision, max_combined),
                                  to = state_->columns(targets, precision, most);
  if (c.rows != int(from.size()) || c.columns != int(to.size()))
    throw Error("coefficients of a linear combination",
                std::to_string(from.size()) + " x " + std::to_string(to.size()) + ", columns of x by columns of y",
                std::to_string(c.rows) + " x " + std::to_string(c.columns));
  if (c.elements.size() > std::size_t(max_coefficients))
    throw Error("coefficients of a linear combination", "at most " + std::to_string(max_coefficients),
                c.elements.size());
  CombineCall call;
  for (const ColorVectorField* target : y) call.first_grown += target->n_rhs();
  call.first_in_place = call.first_grown;
  for (const ColorVectorField* target : targets) {
    const auto place = std::find(x.begin(), x.end(), target);
    if (place == x.end()) continue;
    int end = target->n_rhs();  // of its columns of x
    for (auto field = x.begin(); field != place; ++field) end += (*field)->n_rhs();
    const int n = target->n_rhs(), most_here = 3 * max_grown;
    if (precision == Precision::fp16 || y.empty() || target != y.back() || n > max_grown ||
        (!grown.empty() && end > first_x) || int(from.size()) > most_here || int(to.size()) > most_here)
      throw Error("linear combination", "fields y other than x, or a few columns in place", "a field that is both");
    call.first_in_place = call.first_grown - n;
  }
  call.precision = precision;
  call.x = from, call.y = to;
  call.coefficients = c.elements.data();
  call.first_x_of_grown = first_x;
  call.blocks = state_->layout.blocks();
  call.lanes = state_->layout.lanes();
  call.scratch = state_->scratch.data();
  call.waits = waits;
  state_->kernels.combine(call);
}

}  // namespace staghorn
