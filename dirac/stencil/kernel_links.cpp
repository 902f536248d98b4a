#include "dirac/stencil/kernel_links.hpp"

#include <utility>

#include "dirac/algebra/link_forms.hpp"
#include "dirac/fields/cuda_conversions.hpp"
#include "dirac/fields/plain_sites.hpp"
#include "halo/watch/activity.hpp"

namespace staghorn {

namespace {

// One link as an object of `reals` reals in its block.
template <class Stored>
void put_link(Stored* object, const SiteLayout& layout, int lane, int reals, const ColorMatrix<double>& u) {
  Stored stored[18];
  store_link(u, reals, stored);
  for (int k = 0; k < reals; ++k) object[layout.offset_in_block(lane, k)] = stored[k];
}

template <class Stored>
void pack_links(Stored* to, const SiteLayout& layout, Parity parity, int reals, const LinkField& links) {
  const std::int64_t V = layout.lanes(), blocks = layout.blocks();
#pragma omp parallel for schedule(static)
  for (std::int64_t slot = 0; slot < blocks * V; ++slot) {
    Coordinates x;
    if (!layout.site(parity, Slot(slot), x)) continue;
    const Links& u = links[layout.lattice().site_index(x)];
    for (int mu = 0; mu < 4; ++mu)
      put_link(to + (mu * blocks + slot / V) * reals * V, layout, int(slot % V), reals, u[mu]);
  }
}

// `behind` are the links of the site behind in mu.
template <class Stored>
void pack_special_links(Stored* to, const SiteLayout& layout, Parity target, int reals, const NeighbourTable& table,
                        int mu, const NeighbourSites<Links>& behind) {
  const int V = layout.lanes();
#pragma omp parallel for schedule(static)
  for (std::size_t copy = 0; copy < table.special_link_of.size(); ++copy) {
    const auto [block, direction] = table.special_link_of[copy];
    if (direction != mu) continue;
    for (int l = 0; l < V; ++l) {
      Coordinates x;
      if (!layout.site(target, block * V + l, x)) continue;
      put_link(to + std::int64_t(copy) * reals * V, layout, l, reals, behind[layout.lattice().site_index(x)][mu]);
    }
  }
}

}  // namespace

KernelLinks::KernelLinks(const Communicator& communicator, const LinkField& links, const SiteLayout& layout,
                         Precision precision, Reconstruct reconstruct, const std::array<NeighbourTable, 2>& tables) {
  const int reals = reals_per_link(reconstruct);
  const std::size_t block_bytes = std::size_t(reals) * layout.lanes() * bytes_per_real(precision);
  for (const Parity parity : {Parity::even, Parity::odd}) {
    Buffer& packed = links_[int(parity)] = Buffer(4 * std::size_t(layout.blocks()) * block_bytes);
    with_stored(precision, packed.data(), [&](auto* to) { pack_links(to, layout, parity, reals, links); });
    special_links_[int(parity)] = Buffer(tables[int(parity)].special_link_of.size() * block_bytes);
  }
  if (!communicator.any(special_links_[0].bytes() + special_links_[1].bytes() > 0)) return;
  for (int mu = 0; mu < 4; ++mu) {
    made_progress();
    const NeighbourSites<Links> behind(communicator, links, mu, -1);
    for (const Parity target : {Parity::even, Parity::odd})
      with_stored(precision, special_links_[int(target)].data(),
                  [&](auto* to) { pack_special_links(to, layout, target, reals, tables[int(target)], mu, behind); });
  }
}

KernelLinks::KernelLinks(const Communicator& communicator, const LinkField& links, const SiteLayout& layout,
                         Precision precision, Reconstruct reconstruct, PinnedPieces& pieces) {
  const Lattice& lattice = layout.lattice();
  const int reals = reals_per_link(reconstruct);
  const std::size_t link_bytes = reals * bytes_per_real(precision);
  for (const Parity parity : {Parity::even, Parity::odd}) {
    Buffer& packed = links_[int(parity)] = Buffer(4 * std::size_t(layout.lanes()) * link_bytes, MemorySpace::cuda);
    send_sites<Links>(
        pieces, lattice, parity, [&](std::int64_t site, Links& u) { u = links[site]; },
        [&](const Links* piece, std::int64_t first, std::int64_t count) {
          cuda_pack_links(precision, reals, packed.data(), layout.lanes(), int(first), int(count), 4, piece->data());
        });
  }
  for (int mu = 0; mu < 4; ++mu) {
    if (!lattice.partitioned(mu)) continue;
    const NeighbourSites<Links> behind(communicator, links, mu, -1);
    for (const Parity target : {Parity::even, Parity::odd}) {
      const std::vector<Slot> face = face_sites(layout, target).slots[2 * mu];
      const int n = int(face.size());
      Buffer& ghosts = ghost_links_[int(target)][mu] = Buffer(n * link_bytes, MemorySpace::cuda);
      pieces.send<ColorMatrix<double>>(
          n, 1,
          [&](ColorMatrix<double>* piece, std::int64_t first, std::int64_t count) {
#pragma omp parallel for schedule(static)
            for (std::int64_t k = 0; k < count; ++k) {
              Coordinates x;
              layout.site(target, face[std::size_t(first + k)], x);
              piece[k] = behind[lattice.site_index(x)][mu];
            }
          },
          [&](const ColorMatrix<double>* piece, std::int64_t first, std::int64_t count) {
            cuda_pack_links(precision, reals, ghosts.data(), n, int(first), int(count), 1, piece);
          });
    }
  }
}

KernelLinks::KernelLinks(const KernelLinks& full, const SiteLayout& layout, Precision precision,
                         Reconstruct reconstruct) {
  const int reals = reals_per_link(reconstruct);
  const auto converted = [&](const Buffer& from, int sites, int directions) {
    constexpr std::size_t bytes_per_full_link = 18 * sizeof(double);
    const std::size_t links = from.bytes() / bytes_per_full_link;
    Buffer to(links * reals * bytes_per_real(precision), MemorySpace::cuda);
    if (links > 0)
      cuda_convert_links(precision, reals, to.data(), from.data(), int(links / directions), sites, directions);
    return to;
  };
  for (const int parity : {0, 1}) {
    links_[parity] = converted(full.links_[parity], int(layout.lattice().local_volume() / 2), 4);
    for (int mu = 0; mu < 4; ++mu) {
      const int face = int(layout.lattice().local_volume() / 2 / layout.lattice().local()[mu]);
      ghost_links_[parity][mu] = converted(full.ghost_links_[parity][mu], face, 1);
    }
  }
  cuda::synchronize();
}

std::int64_t KernelLinks::bytes() const {
  std::int64_t total = 0;
  for (int parity : {0, 1}) {
    total += std::int64_t(links_[parity].bytes() + special_links_[parity].bytes());
    for (const Buffer& ghosts : ghost_links_[parity]) total += std::int64_t(ghosts.bytes());
  }
  return total;
}

}  // namespace staghorn
