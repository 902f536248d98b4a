#include "dirac/gauge_field.hpp"

namespace staghorn {

namespace {

template <class Real>
void put_link(Real* lane, int V, int reals, const ColorMatrix<double>& u) {
  for (int k = 0; k < reals / 2; ++k) {
    lane[2 * k * V] = Real(u.e[k / 3][k % 3].re);
    lane[(2 * k + 1) * V] = Real(u.e[k / 3][k % 3].im);
  }
}

template <class Real>
void pack_links(Real* to, const SiteLayout& layout, Parity parity, int reals, const LinkField& links) {
  const int V = layout.lanes();
  const std::int64_t blocks = layout.blocks();
#pragma omp parallel for schedule(static)
  for (std::int64_t slot = 0; slot < blocks * V; ++slot) {
    Coordinates x;
    if (!layout.site(parity, Slot(slot), x)) continue;
    const Links& u = links[layout.lattice().site_index(x)];
    for (int mu = 0; mu < 4; ++mu) put_link(to + (mu * blocks + slot / V) * reals * V + slot % V, V, reals, u[mu]);
  }
}

// `behind` holds U_mu(x - mu) for one mu.
template <class Real>
void pack_special_links(Real* to, const SiteLayout& layout, Parity target, int reals, const NeighbourTable& table,
                        int mu, const MatrixField& behind) {
  const int V = layout.lanes();
#pragma omp parallel for schedule(static)
  for (std::size_t copy = 0; copy < table.special_link_of.size(); ++copy) {
    const auto [block, direction] = table.special_link_of[copy];
    if (direction != mu) continue;
    for (int l = 0; l < V; ++l) {
      Coordinates x;
      if (!layout.site(target, block * V + l, x)) continue;
      put_link(to + std::int64_t(copy) * reals * V + l, V, reals, behind[layout.lattice().site_index(x)]);
    }
  }
}

}  // namespace

GaugeField::GaugeField(const Communicator& communicator, const LinkField& links, const SiteLayout& layout,
                       Precision precision, Reconstruct reconstruct, const std::array<NeighbourTable, 2>& tables) {
  const int reals = reals_per_link(reconstruct);
  const std::size_t block_bytes = std::size_t(reals) * layout.lanes() * bytes_per_real(precision);
  for (const Parity parity : {Parity::even, Parity::odd}) {
    links_[int(parity)] = Buffer(4 * std::size_t(layout.blocks()) * block_bytes);
    special_links_[int(parity)] = Buffer(tables[int(parity)].special_link_of.size() * block_bytes);
    std::byte* to = links_[int(parity)].data();
    if (precision == Precision::fp64)
      pack_links(reinterpret_cast<double*>(to), layout, parity, reals, links);
    else
      pack_links(reinterpret_cast<float*>(to), layout, parity, reals, links);
  }
  for (int mu = 0; mu < 4; ++mu) {
    MatrixField ahead(links.lattice());
    for (std::int64_t site = 0; site < links.size(); ++site) ahead[site] = links[site][mu];
    const MatrixField behind = shifted(communicator, ahead, mu, -1);
    for (const Parity target : {Parity::even, Parity::odd}) {
      std::byte* to = special_links_[int(target)].data();
      if (precision == Precision::fp64)
        pack_special_links(reinterpret_cast<double*>(to), layout, target, reals, tables[int(target)], mu, behind);
      else
        pack_special_links(reinterpret_cast<float*>(to), layout, target, reals, tables[int(target)], mu, behind);
    }
  }
}

std::int64_t GaugeField::bytes() const {
  std::int64_t total = 0;
  for (int parity : {0, 1}) total += std::int64_t(links_[parity].bytes() + special_links_[parity].bytes());
  return total;
}

}  // namespace staghorn
