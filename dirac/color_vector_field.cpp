#include "dirac/color_vector_field.hpp"

#include "dirac/kernels.hpp"
#include "halo/error.hpp"

namespace staghorn {

namespace {

// Calls visit(real, site_value) for the six reals of every site of `parity`, in place.
template <class Real, class Sites, class Visit>
void for_reals(const SiteLayout& layout, Parity parity, int n_rhs, int rhs, Real* field, Sites& sites,
               const Visit& visit) {
  const std::int64_t V = layout.lanes();
#pragma omp parallel for schedule(static)
  for (std::int64_t slot = 0; slot < std::int64_t{layout.blocks()} * V; ++slot) {
    Coordinates x;
    if (!layout.site(parity, Slot(slot), x)) continue;
    auto& vector = sites[layout.lattice().site_index(x)];
    Real* object = field + (slot / V * n_rhs + rhs) * (6 * V);
    for (int c = 0; c < 3; ++c) {
      visit(object[layout.offset_in_block(int(slot % V), 2 * c, 6)], vector.c[c].re);
      visit(object[layout.offset_in_block(int(slot % V), 2 * c + 1, 6)], vector.c[c].im);
    }
  }
}

void check_lattice(const SiteLayout& layout, const VectorField& sites) {
  if (!(layout.lattice() == sites.lattice()))
    throw Error("colour vector", "the local lattice " + to_string(layout.lattice().local()),
                to_string(sites.lattice().local()));
}

}  // namespace

ColorVectorField::ColorVectorField(const SiteLayout& layout, Precision precision, int n_rhs, MemorySpace space)
    : layout_(&layout),
      precision_(precision),
      n_rhs_(n_rhs),
      buffer_(std::size_t(layout.blocks()) * layout.lanes() * 6 * n_rhs * bytes_per_real(precision), space) {}

void ColorVectorField::pack(Parity parity, int rhs, const VectorField& sites) {
  check_lattice(*layout_, sites);
  on_host([&](std::byte* data) {
    const auto put = [](auto& real, double value) { real = std::remove_reference_t<decltype(real)>(value); };
    if (precision_ == Precision::fp64)
      for_reals(*layout_, parity, n_rhs_, rhs, reinterpret_cast<double*>(data), sites, put);
    else
      for_reals(*layout_, parity, n_rhs_, rhs, reinterpret_cast<float*>(data), sites, put);
  });
}

void ColorVectorField::unpack(Parity parity, int rhs, VectorField& sites) const {
  check_lattice(*layout_, sites);
  on_host([&](const std::byte* data) {
    const auto get = [](const auto& real, double& value) { value = double(real); };
    if (precision_ == Precision::fp64)
      for_reals(*layout_, parity, n_rhs_, rhs, reinterpret_cast<const double*>(data), sites, get);
    else
      for_reals(*layout_, parity, n_rhs_, rhs, reinterpret_cast<const float*>(data), sites, get);
  });
}

// Device fields are changed and read through a copy on the host.
template <class Work>
void ColorVectorField::on_host(const Work& work) {
  if (buffer_.space() == MemorySpace::host) return work(buffer_.data());
  Buffer copy(buffer_.bytes());
  copy.copy_from(buffer_);
  work(copy.data());
  buffer_.copy_from(copy);
}

template <class Work>
void ColorVectorField::on_host(const Work& work) const {
  if (buffer_.space() == MemorySpace::host) return work(buffer_.data());
  Buffer copy(buffer_.bytes());
  copy.copy_from(buffer_);
  work(copy.data());
}

void ColorVectorField::copy_from(const ColorVectorField& other) { buffer_.copy_from(other.buffer_); }

namespace {

template <class To, class From>
void convert(const SiteLayout& to_layout, To* to, const SiteLayout& from_layout, const From* from, int n_rhs) {
  const std::int64_t V = to_layout.lanes(), W = from_layout.lanes();
#pragma omp parallel for schedule(static)
  for (std::int64_t slot = 0; slot < std::int64_t{to_layout.blocks()} * V; ++slot) {
    Coordinates x;
    if (!to_layout.site(Parity::even, Slot(slot), x)) continue;  // slots do not depend on the parity
    const std::int64_t source = from_layout.slot(x);
    for (int rhs = 0; rhs < n_rhs; ++rhs) {
      To* object = to + (slot / V * n_rhs + rhs) * (6 * V);
      const From* other = from + (source / W * n_rhs + rhs) * (6 * W);
      for (int k = 0; k < 6; ++k)
        object[to_layout.offset_in_block(int(slot % V), k, 6)] =
            To(other[from_layout.offset_in_block(int(source % W), k, 6)]);
    }
  }
}

}  // namespace

void ColorVectorField::convert_from(const ColorVectorField& other) {
  if (precision_ == other.precision_) return copy_from(other);
  if (buffer_.space() == MemorySpace::cuda)
    return cuda_convert_vectors(precision_, data(), other.data(), layout_->lanes(), n_rhs_);
  if (precision_ == Precision::fp64)
    convert(*layout_, static_cast<double*>(data()), other.layout(), static_cast<const float*>(other.data()), n_rhs_);
  else
    convert(*layout_, static_cast<float*>(data()), other.layout(), static_cast<const double*>(other.data()), n_rhs_);
}

}  // namespace staghorn
