#include "dirac/stencil/operator_links.hpp"

#include <string>
#include <vector>

#include "halo/watch/error.hpp"

namespace staghorn {

void require_fit(const Lattice& lattice, Stencil stencil) {
  for (const std::vector<int>& slabs : lattice.widths())
    for (const int width : slabs)
      if (width < smallest_extent(stencil))
        throw Error(
            "improved quarks",
            "local extents of at least " + std::to_string(smallest_extent(stencil)) + ", for hops of three sites",
            all_equal(lattice.widths()) ? to_string(lattice.local()) : "slabs " + to_string(lattice.widths()));
}

void require_fit(const OperatorLinks& links) {
  if (links.naik && !(links.naik->lattice() == links.lattice()))
    throw Error("Naik links", "the lattice of the fat links, " + to_string(links.lattice().local()),
                to_string(links.naik->lattice().local()));
  require_fit(links.lattice(), links.stencil());
}

}  // namespace staghorn
