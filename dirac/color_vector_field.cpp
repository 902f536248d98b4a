#include "dirac/color_vector_field.hpp"

#include "halo/error.hpp"

namespace staghorn {

namespace {

// Calls visit(real, site_value) for the six reals of every site of `parity`, in place.
template <class Real, class Sites, class Visit>
void for_reals(const SiteLayout& layout, Parity parity, int n_rhs, int rhs, Real* field, Sites& sites,
               const Visit& visit) {
  const int V = layout.lanes();
#pragma omp parallel for schedule(static)
  for (std::int64_t slot = 0; slot < std::int64_t{layout.blocks()} * V; ++slot) {
    Coordinates x;
    if (!layout.site(parity, Slot(slot), x)) continue;
    auto& vector = sites[layout.lattice().site_index(x)];
    Real* first = field + (slot / V * n_rhs + rhs) * (6 * V) + slot % V;
    for (int c = 0; c < 3; ++c) {
      visit(first[2 * c * V], vector.c[c].re);
      visit(first[(2 * c + 1) * V], vector.c[c].im);
    }
  }
}

void check_lattice(const SiteLayout& layout, const VectorField& sites) {
  if (!(layout.lattice() == sites.lattice()))
    throw Error("colour vector", "the local lattice " + to_string(layout.lattice().local()),
                to_string(sites.lattice().local()));
}

}  // namespace

ColorVectorField::ColorVectorField(const SiteLayout& layout, Precision precision, int n_rhs)
    : layout_(&layout),
      precision_(precision),
      n_rhs_(n_rhs),
      buffer_(std::size_t(layout.blocks()) * layout.lanes() * 6 * n_rhs * bytes_per_real(precision)) {}

void ColorVectorField::pack(Parity parity, int rhs, const VectorField& sites) {
  check_lattice(*layout_, sites);
  const auto put = [](auto& real, double value) { real = std::remove_reference_t<decltype(real)>(value); };
  if (precision_ == Precision::fp64)
    for_reals(*layout_, parity, n_rhs_, rhs, static_cast<double*>(data()), sites, put);
  else
    for_reals(*layout_, parity, n_rhs_, rhs, static_cast<float*>(data()), sites, put);
}

void ColorVectorField::unpack(Parity parity, int rhs, VectorField& sites) const {
  check_lattice(*layout_, sites);
  const auto get = [](const auto& real, double& value) { value = double(real); };
  if (precision_ == Precision::fp64)
    for_reals(*layout_, parity, n_rhs_, rhs, static_cast<const double*>(data()), sites, get);
  else
    for_reals(*layout_, parity, n_rhs_, rhs, static_cast<const float*>(data()), sites, get);
}

void ColorVectorField::copy_from(const ColorVectorField& other) { buffer_.copy_from(other.buffer_); }

}  // namespace staghorn
