#include "dirac/gauge_field.hpp"

#include <utility>

#include "dirac/eight_reals.hpp"
#include "dirac/kernels.hpp"
#include "halo/cuda_device.hpp"
#include "halo/phase.hpp"

namespace staghorn {

namespace {

// One link as an object of `reals` reals in its block.
template <class Stored>
void put_link(Stored* object, const SiteLayout& layout, int lane, int reals, const ColorMatrix<double>& u) {
  Stored stored[18];
  store_link(u, reals, stored);
  for (int k = 0; k < reals; ++k) object[layout.offset_in_block(lane, k, reals, sizeof(Stored))] = stored[k];
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

// The same for the sites of the face x_mu = 0 in their order.
template <class Stored>
void pack_ghost_links(Stored* to, const SiteLayout& layout, Parity target, int reals, const std::vector<Slot>& face,
                      int mu, const NeighbourSites<Links>& behind) {
#pragma omp parallel for schedule(static)
  for (std::size_t k = 0; k < face.size(); ++k) {
    Coordinates x;
    layout.site(target, face[k], x);
    Stored stored[18];
    store_link(behind[layout.lattice().site_index(x)][mu], reals, stored);
    for (int i = 0; i < reals; ++i)
      to[layout.offset(std::int64_t(face.size()), std::int64_t(k), i, reals, sizeof(Stored))] = stored[i];
  }
}

}  // namespace

GaugeField::GaugeField(const Communicator& communicator, const LinkField& links, const SiteLayout& layout,
                       Precision precision, Reconstruct reconstruct, const std::array<NeighbourTable, 2>& tables,
                       MemorySpace space) {
  const int reals = reals_per_link(reconstruct);
  const std::size_t block_bytes = std::size_t(reals) * layout.lanes() * bytes_per_real(precision);
  const std::size_t bytes = 4 * std::size_t(layout.blocks()) * block_bytes;
  const bool on_gpu = space == MemorySpace::cuda;
  Buffer staging(on_gpu ? bytes : 0);  // where each parity is packed before it goes to the GPU
  for (const Parity parity : {Parity::even, Parity::odd}) {
    Buffer& packed = links_[int(parity)] = Buffer(bytes, space);
    Buffer& packing = on_gpu ? staging : packed;
    with_stored(precision, packing.data(), [&](auto* to) { pack_links(to, layout, parity, reals, links); });
    if (on_gpu) packed.copy_from(staging);
    special_links_[int(parity)] = Buffer(tables[int(parity)].special_link_of.size() * block_bytes);
  }
  if (!on_gpu && !communicator.any(special_links_[0].bytes() + special_links_[1].bytes() > 0)) return;
  for (int mu = 0; mu < 4; ++mu) {
    made_progress();
    if (on_gpu && !links.lattice().partitioned(mu)) continue;
    const NeighbourSites<Links> behind(communicator, links, mu, -1);
    for (const Parity target : {Parity::even, Parity::odd}) {
      if (on_gpu) {
        const std::vector<Slot> face = face_sites(layout, target).slots[2 * mu];
        Buffer ghosts(face.size() * reals * bytes_per_real(precision));
        with_stored(precision, ghosts.data(),
                    [&](auto* to) { pack_ghost_links(to, layout, target, reals, face, mu, behind); });
        ghost_links_[int(target)][mu] = Buffer(ghosts.bytes(), space);
        ghost_links_[int(target)][mu].copy_from(ghosts);
        continue;
      }
      std::byte* to = special_links_[int(target)].data();
      with_stored(precision, to, [&](auto* stored) {
        pack_special_links(stored, layout, target, reals, tables[int(target)], mu, behind);
      });
    }
  }
}

GaugeField::GaugeField(const GaugeField& full, const SiteLayout& layout, Precision precision, Reconstruct reconstruct) {
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

std::int64_t GaugeField::bytes() const {
  std::int64_t total = 0;
  for (int parity : {0, 1}) {
    total += std::int64_t(links_[parity].bytes() + special_links_[parity].bytes());
    for (const Buffer& ghosts : ghost_links_[parity]) total += std::int64_t(ghosts.bytes());
  }
  return total;
}

}  // namespace staghorn
