#include "dirac/stencil/operator_links.hpp"

#include <string>

#include "halo/watch/error.hpp"

namespace staghorn {

void require_fit(const Lattice& lattice, Stencil stencil) {
  for (const int extent : lattice.local())
    if (extent < smallest_extent(stencil))
      throw Error("improved quarks",
                  "local extents of at least " + std::to_string(smallest_extent(stencil)) + ", for hops of three sites",
                  to_string(lattice.local()));
}

void require_fit(const OperatorLinks& links) {
  if (links.naik && !(links.naik->lattice() == links.lattice()))
    throw Error("Naik links", "the lattice of the fat links, " + to_string(links.lattice().local()),
                to_string(links.naik->lattice().local()));
  require_fit(links.lattice(), links.stencil());
}

}  // namespace staghorn
