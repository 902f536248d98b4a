// n_rhs colour vectors side by side, on the sites of one parity, in the layout of the kernels (SiteLayout).
#pragma once

#include "dirac/algebra/precision.hpp"
#include "dirac/fields/site_field.hpp"
#include "dirac/fields/site_layout.hpp"
#include "halo/buffer.hpp"
#include "halo/pinned_pieces.hpp"

namespace staghorn {

// Right-hand side r of block b is object b n_rhs + r in SiteLayout's formula; its reals are 2 colour + (re, im). The
// field does not know its parity; its user does.
class ColorVectorField {
 public:
  // Makes zero vectors, in huge pages where the system gives them. Pinned: of a GPU, which reads and writes it on the
  // host. `pieces` is needed to pack and unpack a field of a GPU. `layout` and `pieces` must outlive the field. Local.
  ColorVectorField(const SiteLayout& layout, Precision precision, int n_rhs, MemorySpace space = MemorySpace::host,
                   PinnedPieces* pieces = nullptr);

  const SiteLayout& layout() const { return *layout_; }
  Precision precision() const { return precision_; }
  int n_rhs() const { return n_rhs_; }
  std::int64_t bytes() const { return std::int64_t(buffer_.bytes()); }
  void* data() { return buffer_.data(); }
  const void* data() const { return buffer_.data(); }

  // pack: one right-hand side becomes `scale` times the sites of `parity` of a plain field, rounded to this precision.
  // unpack: those sites become the right-hand side. add_to: `scale` times the right-hand side is added to those sites.
  // Sites of the other parity are left alone. A field on a GPU takes plain fields there too. Local.
  void pack(Parity parity, int rhs, const VectorField& sites, double scale = 1);
  void unpack(Parity parity, int rhs, VectorField& sites) const;
  void add_to(Parity parity, int rhs, double scale, VectorField& sites) const;
  // The same where every bit must come back: what unpack_exactly wrote, pack_exactly makes again. Both are unpack and
  // pack but for fp16, whose numbers need more digits than floats have. Plain fields lie on the host; on a GPU the
  // field is copied to the host and back. Local.
  void pack_exactly(Parity parity, int rhs, const VectorField& sites);
  void unpack_exactly(Parity parity, int rhs, VectorField& sites) const;
  void set_zero() { buffer_.set_zero(); }
  // Rounds or widens to this field's precision and layout; same lattice and n_rhs. Widening is exact. Local.
  void convert_from(const ColorVectorField& other);
  void copy_from(const ColorVectorField& other);  // same layout, precision and n_rhs
  // One right-hand side becomes that of a field of the same layout and precision, or zero. Local.
  void copy_rhs(int rhs, const ColorVectorField& other, int other_rhs);
  void clear_rhs(int rhs);

 private:
  template <class Visit>
  void for_vectors(Parity parity, int rhs, const Visit& visit) const;
  // Calls work(offset, bytes) for the bytes of a right-hand side in each block: where they begin, and how many.
  template <class Work>
  void for_pieces(int rhs, const Work& work) const;
  // Where the vectors of a right-hand side begin, on a GPU, where the layout is one block.
  std::byte* vectors(int rhs) { return buffer_.data() + buffer_.bytes() / std::size_t(n_rhs_) * std::size_t(rhs); }
  const std::byte* vectors(int rhs) const { return const_cast<ColorVectorField*>(this)->vectors(rhs); }

  const SiteLayout* layout_;
  PinnedPieces* pieces_;
  Precision precision_;
  int n_rhs_;
  Buffer buffer_;
};

}  // namespace staghorn
