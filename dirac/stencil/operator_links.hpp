// The links that an operator reads, as plain fields: thin links, or the pair of improved quarks.
#pragma once

#include "dirac/fields/site_field.hpp"
#include "dirac/stencil/legs.hpp"

namespace staghorn {

// Refers to fields that must outlive it. Phases and boundary condition are in no link.
struct OperatorLinks {
  // Naive quarks. Implicit, because thin links alone say everything.
  OperatorLinks(const LinkField& thin) : near(thin) {}  // NOLINT(google-explicit-constructor)
  // Improved quarks: fat links F, Naik links N without their coefficient, and the coefficient c_N (legs.hpp). F need
  // not be unitary. Fields of one lattice.
  OperatorLinks(const LinkField& fat, const LinkField& naik, double naik_scale)
      : near(fat), naik(&naik), naik_scale(naik_scale) {}

  const Lattice& lattice() const { return near.lattice(); }
  Stencil stencil() const { return naik ? Stencil::improved : Stencil::naive; }

  const LinkField& near;
  const LinkField* naik = nullptr;
  double naik_scale = 0;
};

// Throws Error, before anything is made, where the stencil does not fit: local extents below smallest_extent, or fat
// and Naik links of different lattices. The same on all ranks. Local.
void require_fit(const Lattice& lattice, Stencil stencil);
void require_fit(const OperatorLinks& links);

}  // namespace staghorn
