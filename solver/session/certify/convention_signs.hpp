// What a convention does to fields: all conventions of staggered phases, their origins and antiperiodic boundaries in t
// are related by diagonal signs, D' = S D S. So a system in any of them is solved or judged in our own, with S x and
// S b. Everything is local.
#pragma once

#include <optional>

#include "dirac/algebra/su3.hpp"
#include "dirac/fields/site_field.hpp"
#include "dirac/stencil/operator_links.hpp"
#include "solver/report/convention.hpp"

namespace staghorn {

// S(x), up to a sign that is the same everywhere: phases counted from the origin, the boundary in t moved there from
// t = 0, and for the adjoint (-1)^(x+y+z+t), which turns D into -D. `x` global.
int convention_sign(const Convention& convention, const Coordinates& x);

// S v on the sites of the system, and zero elsewhere: in our own convention.
VectorField in_our_signs(const Convention& convention, const VectorField& v);

// A link as a code reads it that takes rows for columns.
ColorMatrix<double> read_as(LinkReading reading, const ColorMatrix<double>& link);

// The links of D as a convention reads them: those of the caller, or copies.
class ReadLinks {
 public:
  ReadLinks(const OperatorLinks& links, LinkReading reading);
  OperatorLinks links() const;

 private:
  OperatorLinks given_;
  std::optional<LinkField> near_, naik_;
};

}  // namespace staghorn
