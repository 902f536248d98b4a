#include "dirac/fields/color_vector_field.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "dirac/algebra/dispatch.hpp"
#include "dirac/algebra/fixed_point.hpp"
#include "dirac/fields/cuda_conversions.hpp"
#include "dirac/fields/cuda_plain_vectors.hpp"
#include "dirac/fields/plain_sites.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

// Reads the vector of one lane from an object's block, and writes it. Stored is double, float, or int16 for fixed
// point.
template <class Stored>
std::array<Arithmetic<Stored>, 6> get_vector(const SiteLayout& layout, const Stored* object, int lane) {
  std::array<Arithmetic<Stored>, 6> v;
  for (int k = 0; k < 6; ++k) v[k] = object[layout.offset_in_block(lane, k)];
  if constexpr (is_fixed_point<Stored>) {
    const float unit = reinterpret_cast<const float*>(object)[layout.offset_in_block(lane, 3)];
    for (float& real : v) real *= unit;
  }
  return v;
}

template <class Stored>
void put_vector(const SiteLayout& layout, Stored* object, int lane, const Arithmetic<Stored> (&v)[6]) {
  const auto place = [&](int k) -> Stored& { return object[layout.offset_in_block(lane, k)]; };
  if constexpr (is_fixed_point<Stored>) {
    std::int32_t q[6]{};
    const float unit = to_fixed_point(v, q);
    for (int k = 0; k < 6; ++k) place(k) = Stored(q[k]);
    reinterpret_cast<float*>(object)[layout.offset_in_block(lane, 3)] = unit;
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
    Coordinates x{};
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

// Whether kernels of a GPU work on a field. In pinned memory they read and write it across the bus.
bool worked_on_by_gpu(MemorySpace field) { return field != MemorySpace::host; }

// Whether a GPU has both. Plain vectors there go with kernels there only.
bool both_on_device(MemorySpace field, const VectorField& sites) {
  if (sites.space() != MemorySpace::cuda) return false;
  if (!worked_on_by_gpu(field))
    throw Error("colour vector", "plain vectors on the host, as the kernels are", "on a GPU");
  return true;
}

// The places of a vector of fp16 within its object: integer k, and the unit.
class FixedPointPlaces {
 public:
  FixedPointPlaces(const SiteLayout& layout, bool words) : layout_(layout), words_(words) {}
  std::int64_t integer(int lane, int k) const {
    return words_ ? SiteLayout::offset_in_words(layout_.lanes(), lane, k, 8, 8) : layout_.offset_in_block(lane, k);
  }
  std::int64_t unit(int lane) const {
    return words_ ? SiteLayout::offset_in_words(layout_.lanes(), lane, 3, 4, 4) : layout_.offset_in_block(lane, 3);
  }

 private:
  const SiteLayout& layout_;
  bool words_;  // the layout of GPUs
};

Buffer host_copy(const Buffer& on_gpu) {
  Buffer copy(on_gpu.bytes());
  copy.copy_from(on_gpu);
  return copy;
}

}  // namespace

ColorVectorField::ColorVectorField(const SiteLayout& layout, Precision precision, int n_rhs, MemorySpace space,
                                   PinnedPieces* pieces)
    : layout_(&layout),
      pieces_(pieces),
      precision_(precision),
      n_rhs_(n_rhs),
      buffer_(std::size_t(layout.blocks()) * layout.lanes() * n_rhs * bytes_per_vector(precision), space) {}

void ColorVectorField::pack(Parity parity, int rhs, const VectorField& sites, double scale) {
  check_lattice(*layout_, sites);
  if (both_on_device(buffer_.space(), sites))
    return cuda_pack_plain(precision_, vectors(rhs), layout_->lanes(), sites.data(), sites.lattice().local(), parity,
                           scale);
  const auto scaled = [&](std::int64_t site) {
    ColorVector<double> v{};
    for (int c = 0; c < 3; ++c) v.c[c] = {scale * sites[site].c[c].re, scale * sites[site].c[c].im};
    return v;
  };
  if (worked_on_by_gpu(buffer_.space()))
    return send_sites<ColorVector<double>>(
        *pieces_, layout_->lattice(), parity, [&](std::int64_t site, ColorVector<double>& v) { v = scaled(site); },
        [&](const ColorVector<double>* piece, std::int64_t first, std::int64_t count) {
          cuda_pack_vectors(precision_, vectors(rhs), layout_->lanes(), int(first), int(count), piece);
        });
  with_stored(precision_, data(), [&]<class Stored>(Stored* field) {
    using Real = Arithmetic<Stored>;
    for_sites(*layout_, parity, n_rhs_, rhs, field, [&](Stored* object, int lane, std::int64_t site) {
      const auto& c = scaled(site).c;
      put_vector(*layout_, object, lane,
                 {Real(c[0].re), Real(c[0].im), Real(c[1].re), Real(c[1].im), Real(c[2].re), Real(c[2].im)});
    });
  });
}

// Calls visit(site, vector) for every site of `parity`: its index in plain fields.
template <class Visit>
void ColorVectorField::for_vectors(Parity parity, int rhs, const Visit& visit) const {
  if (worked_on_by_gpu(buffer_.space()))
    return receive_sites<ColorVector<double>>(
        *pieces_, layout_->lattice(), parity,
        [&](ColorVector<double>* piece, std::int64_t first, std::int64_t count) {
          cuda_unpack_vectors(precision_, vectors(rhs), layout_->lanes(), int(first), int(count), piece);
        },
        visit);
  with_stored(precision_, data(), [&]<class Stored>(const Stored* field) {
    for_sites(*layout_, parity, n_rhs_, rhs, field, [&](const Stored* object, int lane, std::int64_t site) {
      const auto v = get_vector(*layout_, object, lane);
      visit(site, ColorVector<double>{{{v[0], v[1]}, {v[2], v[3]}, {v[4], v[5]}}});
    });
  });
}

void ColorVectorField::unpack(Parity parity, int rhs, VectorField& sites) const {
  check_lattice(*layout_, sites);
  if (both_on_device(buffer_.space(), sites))
    return cuda_unpack_plain(precision_, vectors(rhs), layout_->lanes(), sites.data(), sites.lattice().local(), parity);
  for_vectors(parity, rhs, [&](std::int64_t site, const ColorVector<double>& v) { sites[site] = v; });
}

void ColorVectorField::add_to(Parity parity, int rhs, double scale, VectorField& sites) const {
  check_lattice(*layout_, sites);
  if (both_on_device(buffer_.space(), sites))
    return cuda_add_plain(precision_, vectors(rhs), layout_->lanes(), scale, sites.data(), sites.lattice().local(),
                          parity);
  for_vectors(parity, rhs, [&](std::int64_t site, const ColorVector<double>& v) {
    for (int c = 0; c < 3; ++c) {
      sites[site].c[c].re += scale * v.c[c].re;
      sites[site].c[c].im += scale * v.c[c].im;
    }
  });
}

void ColorVectorField::unpack_exactly(Parity parity, int rhs, VectorField& sites) const {
  if (precision_ != Precision::fp16) return unpack(parity, rhs, sites);
  check_lattice(*layout_, sites);
  const bool on_gpu = worked_on_by_gpu(buffer_.space());
  Buffer copy = on_gpu ? host_copy(buffer_) : Buffer();
  const FixedPointPlaces places(*layout_, on_gpu);
  const auto* field = reinterpret_cast<const std::int16_t*>(on_gpu ? copy.data() : buffer_.data());
  for_sites(*layout_, parity, n_rhs_, rhs, field, [&](const std::int16_t* object, int lane, std::int64_t site) {
    const double unit = double(reinterpret_cast<const float*>(object)[places.unit(lane)]);
    double v[6]{};  // products of 16 and 24 bits are exact
    for (int k = 0; k < 6; ++k) v[k] = double(object[places.integer(lane, k)]) * unit;
    sites[site] = {{{v[0], v[1]}, {v[2], v[3]}, {v[4], v[5]}}};
  });
}

void ColorVectorField::pack_exactly(Parity parity, int rhs, const VectorField& sites) {
  if (precision_ != Precision::fp16) return pack(parity, rhs, sites);
  check_lattice(*layout_, sites);
  const bool on_gpu = worked_on_by_gpu(buffer_.space());
  Buffer copy = on_gpu ? host_copy(buffer_) : Buffer();
  const FixedPointPlaces places(*layout_, on_gpu);
  auto* field = reinterpret_cast<std::int16_t*>(on_gpu ? copy.data() : buffer_.data());
  for_sites(*layout_, parity, n_rhs_, rhs, field, [&](std::int16_t* object, int lane, std::int64_t site) {
    const auto& c = sites[site].c;
    const double v[6] = {c[0].re, c[0].im, c[1].re, c[1].im, c[2].re, c[2].im};
    double largest = 0;
    for (const double real : v) largest = std::max(largest, std::fabs(real));
    const double unit = largest / 32767;  // the largest integer of a site is 32767 (to_fixed_point), so this is exact
    for (int k = 0; k < 6; ++k) object[places.integer(lane, k)] = std::int16_t(unit > 0 ? v[k] / unit : 0);
    reinterpret_cast<float*>(object)[places.unit(lane)] = float(unit);
  });
  if (on_gpu) buffer_.copy_from(copy);
}

void ColorVectorField::copy_from(const ColorVectorField& other) { buffer_.copy_from(other.buffer_); }

template <class Work>
void ColorVectorField::for_pieces(int rhs, const Work& work) const {
  const std::int64_t blocks = layout_->blocks(), piece = std::int64_t(buffer_.bytes()) / blocks / n_rhs_;
#pragma omp parallel for schedule(static)
  for (std::int64_t block = 0; block < blocks; ++block)
    work(std::size_t((block * n_rhs_ + rhs) * piece), std::size_t(piece));
}

void ColorVectorField::copy_rhs(int rhs, const ColorVectorField& other, int other_rhs) {
  if (precision_ != other.precision_ ||
      buffer_.bytes() / std::size_t(n_rhs_) * std::size_t(other.n_rhs_) != other.buffer_.bytes() ||
      layout_->blocks() != other.layout_->blocks() || buffer_.space() != other.buffer_.space())
    throw Error("copy of a colour vector", "fields of one layout and precision", "others");
  const auto* const from = other.buffer_.data();
  if (worked_on_by_gpu(buffer_.space()))
    return cuda::copy_on_device(vectors(rhs), other.vectors(other_rhs), buffer_.bytes() / std::size_t(n_rhs_));
  for_pieces(rhs, [&](std::size_t offset, std::size_t bytes) {
    const std::size_t block = offset / bytes / std::size_t(n_rhs_);
    std::memcpy(buffer_.data() + offset, from + (block * std::size_t(other.n_rhs_) + std::size_t(other_rhs)) * bytes,
                bytes);
  });
}

void ColorVectorField::clear_rhs(int rhs) {
  if (worked_on_by_gpu(buffer_.space())) return cuda::set_zero(vectors(rhs), buffer_.bytes() / std::size_t(n_rhs_));
  for_pieces(rhs, [&](std::size_t offset, std::size_t bytes) { std::memset(buffer_.data() + offset, 0, bytes); });
}

void ColorVectorField::convert_from(const ColorVectorField& other) {
  if (precision_ == other.precision_) return copy_from(other);
  if (worked_on_by_gpu(buffer_.space()))
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
