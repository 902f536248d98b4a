// Colour vectors on the sites of one parity, n_rhs of them side by side, in the lane-blocked layout of the kernels.
#pragma once

#include "dirac/algebra/precision.hpp"
#include "dirac/fields/site_field.hpp"
#include "dirac/fields/site_layout.hpp"
#include "halo/buffer.hpp"
#include "halo/pinned_pieces.hpp"

namespace staghorn {

// Right-hand side r of block b is object b n_rhs + r of SiteLayout's formula, reals 2 colour + (re, im). Blocks are
// those of either parity: the field does not know which, its user does.
class ColorVectorField {
 public:
  // Zero-filled, in huge pages where the system gives them. `layout` must outlive the field, and so must `pieces`,
  // through which a field on a GPU is packed and unpacked; without them it is neither. Local.
  ColorVectorField(const SiteLayout& layout, Precision precision, int n_rhs, MemorySpace space = MemorySpace::host,
                   PinnedPieces* pieces = nullptr);

  const SiteLayout& layout() const { return *layout_; }
  Precision precision() const { return precision_; }
  int n_rhs() const { return n_rhs_; }
  std::int64_t bytes() const { return std::int64_t(buffer_.bytes()); }
  void* data() { return buffer_.data(); }
  const void* data() const { return buffer_.data(); }

  // One right-hand side from the sites of `parity` of a plain field, times `scale`, rounded to the field's precision;
  // and to them, or added to them times `scale`. Sites of the other parity are left alone. Local.
  void pack(Parity parity, int rhs, const VectorField& sites, double scale = 1);
  void unpack(Parity parity, int rhs, VectorField& sites) const;
  void add_to(Parity parity, int rhs, double scale, VectorField& sites) const;
  void set_zero() { buffer_.set_zero(); }
  // Rounds or widens to this field's precision and layout; same lattice and n_rhs. Widening is exact. Local.
  void convert_from(const ColorVectorField& other);
  void copy_from(const ColorVectorField& other);  // same layout, precision and n_rhs

 private:
  template <class Visit>
  void for_vectors(Parity parity, int rhs, const Visit& visit) const;
  // On a GPU, where the layout is one block: where those of a right-hand side begin.
  std::byte* vectors(int rhs) { return buffer_.data() + buffer_.bytes() / std::size_t(n_rhs_) * std::size_t(rhs); }
  const std::byte* vectors(int rhs) const { return const_cast<ColorVectorField*>(this)->vectors(rhs); }

  const SiteLayout* layout_;
  PinnedPieces* pieces_;
  Precision precision_;
  int n_rhs_;
  Buffer buffer_;
};

}  // namespace staghorn
