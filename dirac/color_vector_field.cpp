#include "dirac/color_vector_field.hpp"

#include <array>

#include "dirac/fixed_point.hpp"
#include "dirac/kernels.hpp"
#include "halo/cuda_device.hpp"
#include "halo/error.hpp"

namespace staghorn {

namespace {

// The vector of one lane out of an object's block, and into it. Stored is double, float, or int16 for fixed point.
template <class Stored>
std::array<Arithmetic<Stored>, 6> get_vector(const SiteLayout& layout, const Stored* object, int lane) {
  std::array<Arithmetic<Stored>, 6> v;
  for (int k = 0; k < 6; ++k) v[k] = object[layout.offset_in_block(lane, k, vector_places<Stored>, sizeof(Stored))];
  if constexpr (is_fixed_point<Stored>) {
    const float unit = reinterpret_cast<const float*>(object)[layout.offset_in_block(lane, 3, 4, sizeof(float))];
    for (float& real : v) real *= unit;
  }
  return v;
}

template <class Stored>
void put_vector(const SiteLayout& layout, Stored* object, int lane, const Arithmetic<Stored> (&v)[6]) {
  const auto place = [&](int k) -> Stored& {
    return object[layout.offset_in_block(lane, k, vector_places<Stored>, sizeof(Stored))];
  };
  if constexpr (is_fixed_point<Stored>) {
    std::int32_t q[6];
    const float unit = to_fixed_point(v, q);
    for (int k = 0; k < 6; ++k) place(k) = Stored(q[k]);
    reinterpret_cast<float*>(object)[layout.offset_in_block(lane, 3, 4, sizeof(float))] = unit;
  } else {
    for (int k = 0; k < 6; ++k) place(k) = v[k];
  }
}

// Calls visit(object, lane, site) for every site of `parity`: its place in `field`, and its index in plain fields.
template <class Stored, class Visit>
void for_sites(const SiteLayout& layout, Parity parity, int n_rhs, int rhs, Stored* field, const Visit& visit) {
  const std::int64_t V = layout.lanes();
#pragma omp parallel for schedule(static)
  for (std::int64_t slot = 0; slot < std::int64_t{layout.blocks()} * V; ++slot) {
    Coordinates x;
    if (!layout.site(parity, Slot(slot), x)) continue;
    visit(field + (slot / V * n_rhs + rhs) * (vector_places<Stored> * V), int(slot % V),
          layout.lattice().site_index(x));
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
      buffer_(std::size_t(layout.blocks()) * layout.lanes() * n_rhs * bytes_per_vector(precision), space) {}

void ColorVectorField::pack(Parity parity, int rhs, const VectorField& sites) {
  check_lattice(*layout_, sites);
  on_host(rhs, [&](std::byte* data, int n_rhs, int place) {
    with_stored(precision_, data, [&]<class Stored>(Stored* field) {
      using Real = Arithmetic<Stored>;
      for_sites(*layout_, parity, n_rhs, place, field, [&](Stored* object, int lane, std::int64_t site) {
        const auto& c = sites[site].c;
        put_vector(*layout_, object, lane,
                   {Real(c[0].re), Real(c[0].im), Real(c[1].re), Real(c[1].im), Real(c[2].re), Real(c[2].im)});
      });
    });
  });
}

void ColorVectorField::unpack(Parity parity, int rhs, VectorField& sites) const {
  check_lattice(*layout_, sites);
  on_host(rhs, [&](const std::byte* data, int n_rhs, int place) {
    with_stored(precision_, data, [&]<class Stored>(const Stored* field) {
      for_sites(*layout_, parity, n_rhs, place, field, [&](const Stored* object, int lane, std::int64_t site) {
        const auto v = get_vector(*layout_, object, lane);
        for (int c = 0; c < 3; ++c) sites[site].c[c] = {double(v[2 * c]), double(v[2 * c + 1])};
      });
    });
  });
}

// On a device the layout is one block, so the vectors of a right-hand side lie together. They are written and read
// through a copy on the host, as the only ones there.
template <class Work>
void ColorVectorField::on_host(int rhs, const Work& work) {
  if (buffer_.space() == MemorySpace::host) return work(buffer_.data(), n_rhs_, rhs);
  Buffer copy(buffer_.bytes() / std::size_t(n_rhs_));
  work(copy.data(), 1, 0);
  cuda::copy_to_device(buffer_.data() + std::size_t(rhs) * copy.bytes(), copy.data(), copy.bytes());
}

template <class Work>
void ColorVectorField::on_host(int rhs, const Work& work) const {
  if (buffer_.space() == MemorySpace::host) return work(buffer_.data(), n_rhs_, rhs);
  Buffer copy(buffer_.bytes() / std::size_t(n_rhs_));
  cuda::copy_to_host(copy.data(), buffer_.data() + std::size_t(rhs) * copy.bytes(), copy.bytes());
  work(copy.data(), 1, 0);
}

void ColorVectorField::copy_from(const ColorVectorField& other) { buffer_.copy_from(other.buffer_); }

void ColorVectorField::convert_from(const ColorVectorField& other) {
  if (precision_ == other.precision_) return copy_from(other);
  if (buffer_.space() == MemorySpace::cuda)
    return cuda_convert_vectors(precision_, data(), other.precision_, other.data(), layout_->lanes(), n_rhs_);
  const std::int64_t W = other.layout().lanes();
  with_stored(precision_, data(), [&]<class To>(To* to) {
    with_stored(other.precision_, other.data(), [&]<class From>(const From* from) {
      for (int rhs = 0; rhs < n_rhs_; ++rhs)  // slots do not depend on the parity
        for_sites(*layout_, Parity::even, n_rhs_, rhs, to, [&](To* object, int lane, std::int64_t site) {
          const Slot slot = other.layout().slot(layout_->lattice().site_coordinates(site));
          const auto v =
              get_vector(other.layout(), from + (slot / W * n_rhs_ + rhs) * (vector_places<From> * W), int(slot % W));
          using Real = Arithmetic<To>;
          put_vector(*layout_, object, lane, {Real(v[0]), Real(v[1]), Real(v[2]), Real(v[3]), Real(v[4]), Real(v[5])});
        });
    });
  });
}

}  // namespace staghorn
