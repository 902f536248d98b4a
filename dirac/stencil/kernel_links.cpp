#include "dirac/stencil/kernel_links.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "dirac/algebra/dispatch.hpp"
#include "dirac/algebra/link_forms.hpp"
#include "dirac/fields/cuda_conversions.hpp"
#include "dirac/fields/plain_sites.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "halo/watch/activity.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

// A link by number: 4 * local site + direction.
constexpr std::int64_t no_link = std::numeric_limits<std::int64_t>::max();

ColorMatrix<double> scaled(ColorMatrix<double> u, double factor) {
  if (factor == 1) return u;
  for (auto& row : u.e)
    for (Complex<double>& e : row) e = {e.re * factor, e.im * factor};
  return u;
}

// |re| and |im| of all links are at most this; NaN if one is NaN. 1 for links that are all zero. Collective.
double largest_real(const Communicator& communicator, const LinkField& links) {
  if (links.space() == MemorySpace::cuda) return largest_real(communicator, LinkField(links, MemorySpace::host));
  double largest = 0;
  bool is_nan = false;
#pragma omp parallel for schedule(static) reduction(max : largest) reduction(|| : is_nan)
  for (std::int64_t site = 0; site < links.size(); ++site)
    for (const auto& link : links[site])
      for (const auto& row : link.e)
        for (const Complex<double>& e : row) {
          largest = std::max({largest, std::fabs(e.re), std::fabs(e.im)});
          is_nan = is_nan || std::isnan(e.re) || std::isnan(e.im);
        }
  largest = communicator.max(is_nan ? std::numeric_limits<double>::quiet_NaN() : largest);
  return largest == 0 ? 1 : largest;
}

// What links of this form are divided by. Where a link is not finite it is 1, and packing refuses that link.
// Collective.
double scale_of(const Communicator& communicator, const LinkField& links, const KernelLinkForm& form) {
  if (!form.sized || form.precision != Precision::fp16 || form.reconstruct != Reconstruct::none18) return 1;
  const double largest = largest_real(communicator, links);
  return std::isfinite(largest) ? largest : 1;
}

// Writes one link as an object of `reals` reals in its block. Returns whether it has a stored form (store_link).
template <class Stored>
bool put_link(Stored* object, const SiteLayout& layout, int lane, int reals, const ColorMatrix<double>& u) {
  Stored stored[18]{};
  const bool fits = store_link(u, reals, stored);
  for (int k = 0; k < reals; ++k) object[layout.offset_in_block(lane, k)] = stored[k];
  return fits;
}

// Returns the first link that has no stored form, else no_link.
template <class Stored>
std::int64_t pack_links(Stored* to, const SiteLayout& layout, Parity parity, int reals, const LinkField& links,
                        double factor) {
  const std::int64_t V = layout.lanes(), blocks = layout.blocks();
  std::int64_t misfit = no_link;
#pragma omp parallel for schedule(static) reduction(min : misfit)
  for (std::int64_t slot = 0; slot < blocks * V; ++slot) {
    Coordinates x{};
    if (!layout.site(parity, Slot(slot), x)) continue;
    const std::int64_t site = layout.lattice().site_index(x);
    for (int mu = 0; mu < 4; ++mu)
      if (!put_link(to + (mu * blocks + slot / V) * reals * V, layout, int(slot % V), reals,
                    scaled(links[site][mu], factor)))
        misfit = std::min(misfit, 4 * site + mu);
  }
  return misfit;
}

// `copies` are the blocks and directions that need a copy, `behind` the links of the site behind in mu.
template <class Stored>
void pack_special_links(Stored* to, const SiteLayout& layout, Parity target, int reals,
                        const std::vector<std::array<std::int32_t, 2>>& copies, int mu,
                        const NeighbourSites<Links>& behind, double factor) {
  const int V = layout.lanes();
#pragma omp parallel for schedule(static)
  for (std::size_t copy = 0; copy < copies.size(); ++copy) {
    const auto [block, direction] = copies[copy];
    if (direction != mu) continue;
    for (int l = 0; l < V; ++l) {
      Coordinates x{};
      if (!layout.site(target, block * V + l, x)) continue;
      put_link(to + std::int64_t(copy) * reals * V, layout, l, reals,
               scaled(behind[layout.lattice().site_index(x)][mu], factor));
    }
  }
}

// Throws Error on all ranks if some rank has a link without a stored form. Collective.
void refuse_misfit(const Communicator& communicator, const LinkField& links, LinkSet set, std::int64_t misfit) {
  communicator.agree([&] {
    if (misfit == no_link) return;
    const Lattice& lattice = links.lattice();
    const std::int64_t site = misfit / 4;
    const int mu = int(misfit % 4);
    double largest = 0;  // stays NaN once it is
    ColorMatrix<double> link{};
    const ColorMatrix<double>* const there = &links.data()[site][std::size_t(mu)];
    if (links.space() == MemorySpace::cuda)
      cuda::copy_to_host(&link, there, sizeof link);
    else
      link = *there;
    for (const auto& row : link.e)
      for (const Complex<double>& e : row)
        for (const double real : {e.re, e.im})
          if (!std::isnan(largest) && !(std::fabs(real) <= largest)) largest = std::fabs(real);
    std::string place;
    for (const int coordinate : lattice.to_global(lattice.site_coordinates(site)))
      place += (place.empty() ? "" : ", ") + std::to_string(coordinate);
    const bool naik = set == LinkSet::naik;
    throw Error(std::string("link in fp16: ") + (naik ? "N_" : "U_") + "xyzt"[mu] + " at (" + place + ")",
                std::string("|re|, |im| <= 1 in a matrix of ") + (naik ? "U(3)" : "SU(3)"),
                "at most " + three_digits(largest));
  });
}

// The buffer, of so many bytes on the GPU: the one that is there, or a new one.
Buffer& room(Buffer& buffer, std::size_t bytes) {
  if (buffer.bytes() != bytes) buffer = Buffer(bytes, MemorySpace::cuda);
  return buffer;
}

// The place on the GPU where kernels leave which link has no stored form (cuda_conversions.hpp).
class DeviceMisfit {
 public:
  explicit DeviceMisfit(Precision precision) {
    if (precision == Precision::fp16) found_ = Buffer(sizeof(std::uint64_t), MemorySpace::cuda);
  }
  std::uint64_t* place() { return reinterpret_cast<std::uint64_t*>(found_.data()); }

  // The link by number, where slots are those of `parity`. Waits for the device.
  std::int64_t link(const SiteLayout& layout, Parity parity) {
    std::uint64_t found = 0;
    if (found_.bytes() > 0) cuda::copy_to_host(&found, place(), sizeof found);
    if (found == 0) return no_link;
    Coordinates x{};
    layout.site(parity, Slot(~found / 4), x);
    return 4 * layout.lattice().site_index(x) + std::int64_t(~found % 4);
  }

 private:
  Buffer found_;
};

}  // namespace

KernelLinks::KernelLinks(const Communicator& communicator, const LinkField& links, const SiteLayout& layout,
                         const KernelLinkForm& form, const std::array<NeighbourTable, 2>& tables)
    : scale_(scale_of(communicator, links, form)) {
  const auto [precision, reconstruct, set, sized] = form;
  const int reals = reals_per_link(reconstruct);
  const double factor = 1 / scale_;
  const auto copies = [&tables, set = set ](Parity target) -> const auto& {
    return tables[int(target)].special_link_of[std::size_t(set)];
  };
  std::int64_t misfit = no_link;
  const std::size_t block_bytes = std::size_t(reals) * layout.lanes() * bytes_per_real(precision);
  for (const Parity parity : {Parity::even, Parity::odd}) {
    Buffer& packed = links_[int(parity)] = Buffer(4 * std::size_t(layout.blocks()) * block_bytes);
    with_stored(precision, packed.data(),
                [&](auto* to) { misfit = std::min(misfit, pack_links(to, layout, parity, reals, links, factor)); });
    special_links_[int(parity)] = Buffer(copies(parity).size() * block_bytes);
  }
  if (precision == Precision::fp16) refuse_misfit(communicator, links, set, misfit);
  const bool copied = special_links_[0].bytes() + special_links_[1].bytes() > 0;
  for (int mu = 0; mu < 4; ++mu) {  // where mu is cut, every rank asks its neighbour, as ranks on GPUs do
    if (!copied && !layout.lattice().partitioned(mu)) continue;
    made_progress();
    const NeighbourSites<Links> behind(communicator, links, mu, -1, steps_of(set));
    for (const Parity target : {Parity::even, Parity::odd})
      with_stored(precision, special_links_[int(target)].data(),
                  [&](auto* to) { pack_special_links(to, layout, target, reals, copies(target), mu, behind, factor); });
  }
}

KernelLinks::KernelLinks(const Communicator& communicator, const LinkField& links, const SiteLayout& layout,
                         const KernelLinkForm& form, PinnedPieces& pieces) {
  pack(communicator, links, layout, form, pieces);
}

void KernelLinks::pack(const Communicator& communicator, const LinkField& links, const SiteLayout& layout,
                       const KernelLinkForm& form, PinnedPieces& pieces) {
  scale_ = scale_of(communicator, links, form);
  const auto [precision, reconstruct, set, sized] = form;
  const Lattice& lattice = layout.lattice();
  const int reals = reals_per_link(reconstruct);
  const double factor = 1 / scale_;
  const std::size_t link_bytes = reals * bytes_per_real(precision);
  std::int64_t misfit = no_link;
  for (const Parity parity : {Parity::even, Parity::odd}) {
    Buffer& packed = room(links_[int(parity)], 4 * std::size_t(layout.lanes()) * link_bytes);
    DeviceMisfit on_device(precision);
    if (links.space() == MemorySpace::cuda)
      cuda_pack_link_field(precision, reconstruct, packed.data(), layout.lanes(), parity, links, factor,
                           on_device.place());
    else
      send_sites<Links>(
          pieces, lattice, parity,
          [&](std::int64_t site, Links& u) {
            for (int mu = 0; mu < 4; ++mu) u[mu] = scaled(links[site][mu], factor);
          },
          [&](const Links* piece, std::int64_t first, std::int64_t count) {
            cuda_pack_links(precision, reconstruct, packed.data(), layout.lanes(), int(first), int(count), 4,
                            piece->data(), on_device.place());
          });
    misfit = std::min(misfit, on_device.link(layout, parity));
  }
  cuda::synchronize();
  if (precision == Precision::fp16) refuse_misfit(communicator, links, set, misfit);
  for (int mu = 0; mu < 4; ++mu) {
    if (!lattice.partitioned(mu)) continue;
    const NeighbourSites<Links> behind(communicator, links, mu, -1, steps_of(set));
    for (const Parity target : {Parity::even, Parity::odd}) {
      const std::vector<Slot> face = face_sites(layout, target, steps_of(set)).slots[2 * mu];
      const int n = int(face.size());
      Buffer& ghosts = room(ghost_links_[int(target)][mu], n * link_bytes);
      pieces.send<ColorMatrix<double>>(
          n, 1,
          [&](ColorMatrix<double>* piece, std::int64_t first, std::int64_t count) {
#pragma omp parallel for schedule(static)
            for (std::int64_t k = 0; k < count; ++k) {
              Coordinates x{};
              layout.site(target, face[std::size_t(first + k)], x);
              piece[k] = scaled(behind[lattice.site_index(x)][mu], factor);
            }
          },
          [&](const ColorMatrix<double>* piece, std::int64_t first, std::int64_t count) {
            cuda_pack_links(precision, reconstruct, ghosts.data(), n, int(first), int(count), 1, piece, nullptr);
          });
    }
  }
}

KernelLinks::KernelLinks(const Communicator& communicator, const LinkField& links, const KernelLinks& full,
                         const SiteLayout& layout, const KernelLinkForm& form) {
  convert(communicator, links, full, layout, form);
}

void KernelLinks::convert(const Communicator& communicator, const LinkField& links, const KernelLinks& full,
                          const SiteLayout& layout, const KernelLinkForm& form) {
  scale_ = scale_of(communicator, links, form);
  const auto [precision, reconstruct, set, sized] = form;
  const double factor = 1 / scale_;
  const std::size_t link_bytes = std::size_t(reals_per_link(reconstruct)) * bytes_per_real(precision);
  const auto convert_to = [&, precision = precision, reconstruct = reconstruct](
                              Buffer& to, const Buffer& from, int sites, int directions, std::uint64_t* misfit) {
    constexpr std::size_t bytes_per_full_link = 18 * sizeof(double);
    const std::size_t n = from.bytes() / bytes_per_full_link;
    room(to, n * link_bytes);
    if (n > 0)
      cuda_convert_links(precision, reconstruct, to.data(), from.data(), int(n / std::size_t(directions)), sites,
                         directions, factor, misfit);
  };
  std::int64_t misfit = no_link;
  const int half_volume = int(layout.lattice().local_volume() / 2);
  for (const Parity parity : {Parity::even, Parity::odd}) {
    DeviceMisfit on_device(precision);
    convert_to(links_[int(parity)], full.links_[int(parity)], half_volume, 4, on_device.place());
    for (int mu = 0; mu < 4; ++mu)
      convert_to(ghost_links_[int(parity)][mu], full.ghost_links_[int(parity)][mu],
                 steps_of(set) * half_volume / layout.lattice().local()[mu], 1, nullptr);
    misfit = std::min(misfit, on_device.link(layout, parity));
  }
  cuda::synchronize();
  if (precision == Precision::fp16) refuse_misfit(communicator, links, set, misfit);
}

void KernelLinks::copy_from(const KernelLinks& other) {
  scale_ = other.scale_;
  for (const int parity : {0, 1}) {
    links_[parity].copy_from(other.links_[parity]);
    special_links_[parity].copy_from(other.special_links_[parity]);
    for (int mu = 0; mu < 4; ++mu) ghost_links_[parity][mu].copy_from(other.ghost_links_[parity][mu]);
  }
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
