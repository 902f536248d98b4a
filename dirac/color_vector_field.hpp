// Colour vectors on the sites of one parity, n_rhs of them side by side, in the lane-blocked layout of the kernels.
#pragma once

#include "dirac/precision.hpp"
#include "dirac/site_field.hpp"
#include "dirac/site_layout.hpp"
#include "halo/buffer.hpp"

namespace staghorn {

// Right-hand side r of block b is object b n_rhs + r of SiteLayout's formula, reals 2 colour + (re, im). Blocks are
// those of either parity: the field does not know which, its user does.
class ColorVectorField {
 public:
  // Zero-filled, in huge pages where the system gives them. `layout` must outlive the field. Local.
  ColorVectorField(const SiteLayout& layout, Precision precision, int n_rhs, MemorySpace space = MemorySpace::host);

  const SiteLayout& layout() const { return *layout_; }
  Precision precision() const { return precision_; }
  int n_rhs() const { return n_rhs_; }
  std::int64_t bytes() const { return std::int64_t(buffer_.bytes()); }
  void* data() { return buffer_.data(); }
  const void* data() const { return buffer_.data(); }

  // Copies one right-hand side from / to the sites of `parity` of a plain field; rounds to the field's precision.
  // unpack leaves the sites of the other parity alone. Local.
  void pack(Parity parity, int rhs, const VectorField& sites);
  void unpack(Parity parity, int rhs, VectorField& sites) const;
  void set_zero() { buffer_.set_zero(); }
  // Rounds or widens to this field's precision and layout; same lattice and n_rhs. Widening is exact. Local.
  void convert_from(const ColorVectorField& other);
  void copy_from(const ColorVectorField& other);  // same layout, precision and n_rhs

 private:
  template <class Work>
  void on_host(int rhs, const Work& work);
  template <class Work>
  void on_host(int rhs, const Work& work) const;

  const SiteLayout* layout_;
  Precision precision_;
  int n_rhs_;
  Buffer buffer_;
};

}  // namespace staghorn
