#include "solver/interface/layouts/link_conversion.hpp"

#include "dirac/algebra/su3_matrix.hpp"
#include "dirac/gauge/cuda_links.hpp"
#include "halo/watch/error.hpp"
#include "solver/interface/layouts/cuda_layouts.hpp"
#include "solver/interface/layouts/given_phases.hpp"
#include "solver/interface/layouts/host_numbers.hpp"
#include "solver/interface/layouts/staged_bytes.hpp"

namespace staghorn {

namespace {

// Whether the phase of direction mu is in the links and no sign.
bool holds_phase(const HostLinks& layout, int mu) { return layout.boundary_in && !is_sign(layout.boundary.theta[mu]); }

void scale_directions(LinkField& links, const std::array<double, 4>& scale) {
  if (scale == std::array<double, 4>{1, 1, 1, 1}) return;
  if (links.space() == MemorySpace::cuda) return cuda_scale_directions(links, scale);
  for_all_sites(links.lattice(), [&](std::int64_t site, const Coordinates&) {
    for (std::size_t mu = 0; mu < 4; ++mu) multiply(links[site][mu], scale[mu]);
  });
}

// Buffers of the host to the GPU as they lie, and converted there. The memory that this takes is freed at once.
void read_links_there(const HostLinks& layout, const LinkBuffers& host, LinkField& out) {
  HostLinks there = layout;
  there.space = MemorySpace::cuda;
  const std::int64_t each = buffer_bytes(layout, out.lattice().local());
  StagedBytes staged;
  std::byte* const room = staged.room(each * buffers_of(layout.order));
  LinkBuffers buffers{};
  for (int k = 0; k < buffers_of(layout.order); ++k) {
    std::byte* const to = room + k * each;
    staged.send(to, host[std::size_t(k)], each);
    buffers[std::size_t(k)] = to;
  }
  cuda_read_links(there, buffers, out);
}

void store_links(const HostLinks& links, const LinkField& in, const std::array<void*, 4>& host) {
  const Lattice& lattice = in.lattice();
  const LinkView view = view_of(links, lattice);
  for_all_sites(lattice, [&](std::int64_t site, const Coordinates& x) {
    const Coordinates global = lattice.to_global(x);
    for (int mu = 0; mu < 4; ++mu) {
      auto* const place = static_cast<std::byte*>(host[std::size_t(view.buffer(mu))]) + view.place(mu, x);
      store(links.real, place, view.turned(in[site][mu]), view.sign(mu, global));
    }
  });
}

}  // namespace

std::int64_t bytes_to_convert_there(const HostLinks& layout, const Extents& local) {
  HostLinks packed = layout, there = layout;
  packed.site_stride = packed.link_offset = 0;
  there.space = MemorySpace::cuda;
  if (stride_of(layout) > 2 * stride_of(packed)) return 0;
  try {
    check_layout(there);
  } catch (const Error&) {
    return 0;  // numbers that a GPU does not read
  }
  return buffer_bytes(layout, local) * buffers_of(layout.order);
}

void read_links(const HostLinks& links, const LinkBuffers& host, LinkField& out) {
  const Lattice& lattice = out.lattice();
  check_layout(links);
  if (out.space() == MemorySpace::cuda && links.space != MemorySpace::cuda) return read_links_there(links, host, out);
  if (out.space() == MemorySpace::cuda) return cuda_read_links(links, host, out);
  if (links.space == MemorySpace::cuda) {
    LinkField there(lattice, MemorySpace::cuda);
    cuda_read_links(links, host, there);
    out = there;
    return;
  }
  const LinkView view = view_of(links, lattice);
  for_all_sites(lattice, [&](std::int64_t site, const Coordinates& x) {
    const Coordinates global = lattice.to_global(x);
    for (int mu = 0; mu < 4; ++mu) {
      const auto* const place = static_cast<const std::byte*>(host[std::size_t(view.buffer(mu))]) + view.place(mu, x);
      out[site][mu] = view.turned(load<ColorMatrix<double>>(links.real, place, view.sign(mu, global)));
    }
  });
}

TakenLinks known_phases(const HostLinks& layout) {
  TakenLinks taken;
  taken.unscaled = layout.scale == std::array<double, 4>{1, 1, 1, 1};
  taken.boundary = layout.boundary;
  if (layout.phases != LinkPhases::none) taken.signs.phases = layout.phases;
  for (int mu = 0; mu < 4; ++mu) {
    double& theta = taken.boundary.theta[mu];
    if (is_sign(theta)) theta = is_odd(theta) ? 1 : 0;
    if (!holds_phase(layout, mu)) continue;
    theta = 0;
    taken.unscaled = false;
  }
  return taken;
}

TakenLinks take_links(const Communicator& communicator, const HostLinks& layout, const LinkBuffers& host,
                      LinkField& out) {
  communicator.agree([&] {
    check_layout(layout);
    read_links(layout, host, out);
    if (!layout.as_given) scale_directions(out, layout.scale);
  });

  TakenLinks taken = known_phases(layout);
  if (!layout.as_given) return taken;
  GivenPhases found = take_out_phases(communicator, out);
  taken.boundary = found.boundary;
  taken.signs.found = FoundSigns::of(std::move(found.signs));
  taken.unscaled = taken.unscaled && found.only_signs;
  scale_directions(out, layout.scale);
  return taken;
}

void write_links(const HostLinks& links, const LinkField& in, const std::array<void*, 4>& host) {
  check_layout(links);
  if (links.as_given) throw Error("phases of links to be written", "a known convention", "links as given");
  for (int mu = 0; mu < 4; ++mu)
    if (holds_phase(links, mu))
      throw Error("theta of links to be written", "whole numbers, which are signs", links.boundary.theta[mu]);
  store_links(links, in, host);
}

void convert_links(const Lattice& lattice, const HostLinks& from_layout, const LinkBuffers& from,
                   const HostLinks& to_layout, const std::array<void*, 4>& to) {
  check_layout(from_layout);
  check_layout(to_layout);
  if (from_layout.as_given != to_layout.as_given)
    throw Error("phases of links to be converted", "a known convention, or links as given on both sides",
                "links as given on one side");
  for (int mu = 0; mu < 4 && !from_layout.as_given; ++mu) {
    const bool held = holds_phase(from_layout, mu), wanted = holds_phase(to_layout, mu);
    if ((held || wanted) && (held != wanted || from_layout.boundary.theta[mu] != to_layout.boundary.theta[mu]))
      throw Error("boundary_in of links to be converted", "the same phase on both sides, where it is no sign",
                  "theta " + three_digits(from_layout.boundary.theta[mu]) + " and " +
                      three_digits(to_layout.boundary.theta[mu]));
  }
  LinkField plain(lattice);
  read_links(from_layout, from, plain);
  store_links(to_layout, plain, to);
}

}  // namespace staghorn
