#include "dirac/stencil/neighbour_table.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dirac/stencil/hop_sign.hpp"

namespace staghorn {

namespace {

// The neighbour of one lane: its slot (~slot in the ghost buffer), its sign, and whether a boundary phase other than
// +-1 applies.
struct LaneNeighbour {
  Slot slot = 0;
  float sign = 1;
  bool phase = false;
};

class NeighbourFinder {
 public:
  NeighbourFinder(const SiteLayout& layout, const Boundary& boundary, Parity sender_parity, const FaceSites& faces,
                  int depth)
      : layout_(layout), lattice_(layout.lattice()), boundary_(boundary) {
    for (int face = 0; face < 8; ++face) {
      if (!lattice_.partitioned(face / 2)) continue;
      const int sender = lattice_.neighbour_rank(face / 2, face % 2 == 0 ? +1 : -1);
      senders_[face].emplace(lattice_.of_rank(sender), layout.lanes());
      const std::vector<Slot> sent = sites_of_face(*senders_[face], sender_parity, depth, face);
      for (std::size_t k = 0; k < sent.size(); ++k)
        ghost_slot_[face].emplace(sent[k], faces.first_block[face] * layout.lanes() + Slot(k));
    }
  }

  LaneNeighbour find(const Coordinates& x, const Leg& leg) const {
    const int mu = leg.mu, steps = leg.forward ? steps_of(leg.set) : -steps_of(leg.set);
    const Coordinates at = lattice_.to_global(x);
    const auto outside = [](int place, int extent) { return place < 0 || place >= extent; };
    const bool crosses = outside(at[mu] + steps, lattice_.global()[mu]);
    const int extent = lattice_.local()[mu];
    const bool leaves = outside(x[mu] + steps, extent);
    const double theta = boundary_.theta[mu];
    LaneNeighbour result;
    result.sign = hop_is_negative(mu, at, crosses && is_antiperiodic(theta)) ? -1 : 1;
    result.phase = crosses && is_phase(theta);
    Coordinates y = x;
    if (leaves && lattice_.partitioned(mu)) {
      const int face = 2 * mu + (leg.forward ? 0 : 1);
      const SiteLayout& sender = *senders_[face];
      y[mu] = leg.forward ? x[mu] + steps - extent : x[mu] + steps + sender.lattice().local()[mu];
      result.slot = ~ghost_slot_[face].at(sender.slot(y));
    } else {
      y[mu] = (x[mu] + steps + extent) % extent;
      result.slot = layout_.slot(y);
    }
    return result;
  }

 private:
  const SiteLayout& layout_;
  const Lattice& lattice_;
  const Boundary& boundary_;
  std::array<std::optional<SiteLayout>, 8> senders_;          // by face: the layout of the rank that sends it
  std::array<std::unordered_map<Slot, Slot>, 8> ghost_slot_;  // slot at the sender -> slot in the ghost buffer
};

// Whether each half of the lanes is one run of consecutive slots, on one side (local or ghost) and in one block.
bool two_halves(const std::array<LaneNeighbour, max_lanes>& lane, int lanes) {
  const int half = lanes / 2;
  for (int l = 0; l < lanes; ++l) {
    const Slot first = lane[l / half * half].slot, step = first < 0 ? -1 : 1;  // ~slot counts downwards
    if (lane[l].slot != first + step * (l % half)) return false;
    if ((first < 0 ? ~first : first) % half != 0) return false;
  }
  return true;
}

// Fills one entry from its lanes. Returns true and sets `code` if it is a plain one (a whole local block, one sign).
bool classify(const std::array<LaneNeighbour, max_lanes>& lane, int lanes, std::int32_t& code,
              SpecialNeighbour& special) {
  special = {};
  bool one_sign = true, any_phase = false, same_block = true, identity = true;
  const bool ghost = lane[0].slot < 0;
  const auto place = [&](int l) { return lane[l].slot < 0 ? ~lane[l].slot : lane[l].slot; };
  const int block = place(0) / lanes;
  for (int l = 0; l < lanes; ++l) {
    one_sign &= lane[l].sign == lane[0].sign;
    any_phase |= lane[l].phase;
    same_block &= (lane[l].slot < 0) == ghost && place(l) / lanes == block;
    identity &= place(l) % lanes == l;
    special.sign[l] = lane[l].sign;
    special.phase_lanes |= std::uint32_t(lane[l].phase) << l;
  }
  if (same_block && identity && !ghost && one_sign && !any_phase) {
    code = 2 * block + (lane[0].sign < 0);
    return true;
  }
  special.block = block;
  special.kind = !same_block || (ghost && !identity)
                     ? (two_halves(lane, lanes) ? SpecialNeighbour::halves : SpecialNeighbour::scattered)
                 : ghost ? SpecialNeighbour::ghost_block
                         : SpecialNeighbour::permuted;
  for (int l = 0; l < lanes; ++l)
    special.source[l] = special.kind >= SpecialNeighbour::halves ? lane[l].slot : place(l) % lanes;
  return false;
}

constexpr int blocks_per_range = 256;  // blocks that one thread works through at a time

// What a range of blocks adds to a table, in the order of the blocks.
struct FoundNeighbours {
  using Special = std::pair<std::size_t, SpecialNeighbour>;  // and its place in `neighbours`
  std::vector<Special> special;
  std::vector<std::int32_t> interior_blocks, boundary_blocks;
};

// Fills the plain entries of `neighbours` for the blocks from `first` to `last`, and returns the rest.
FoundNeighbours find_neighbours(const NeighbourFinder& finder, const SiteLayout& layout, Stencil stencil, Parity target,
                                int first, int last, std::int32_t* neighbours) {
  FoundNeighbours found;
  std::array<LaneNeighbour, max_lanes> lane;
  for (int block = first; block < last; ++block) {
    bool needs_ghost = false;
    for (int leg = 0; leg < legs_of(stencil); ++leg) {
      for (int l = 0; l < layout.lanes(); ++l) {
        Coordinates x{};
        // A lane that pads the last block repeats the block's first site: harmless, for no sum takes it.
        if (!layout.site(target, block * layout.lanes() + l, x)) layout.site(target, block * layout.lanes(), x);
        lane[l] = finder.find(x, leg_of(stencil, leg));
        needs_ghost |= lane[l].slot < 0;
      }
      const std::size_t place = std::size_t(block) * legs_of(stencil) + leg;
      SpecialNeighbour special{};
      if (!classify(lane, layout.lanes(), neighbours[place], special)) found.special.push_back({place, special});
    }
    (needs_ghost ? found.boundary_blocks : found.interior_blocks).push_back(block);
  }
  return found;
}

}  // namespace

std::int64_t NeighbourTable::bytes() const {
  return std::int64_t(neighbours.size() * sizeof(neighbours[0]) + special.size() * sizeof(special[0]) +
                      special_link.size() * sizeof(special_link[0]) +
                      (special_link_of[0].size() + special_link_of[1].size()) * sizeof(special_link_of[0][0]) +
                      (interior_blocks.size() + boundary_blocks.size()) * sizeof(interior_blocks[0]));
}

std::vector<Slot> sites_of_face(const SiteLayout& layout, Parity parity, int depth, int face) {
  const Lattice& lattice = layout.lattice();
  const int mu = face / 2;
  std::vector<Slot> slots;
  if (!lattice.partitioned(mu)) return slots;
  Extents extents = lattice.local();
  extents[mu] = 1;
  for (int slice = 0; slice < depth; ++slice) {
    const std::ptrdiff_t first = std::ptrdiff_t(slots.size());
    for (std::int64_t k = 0; k < volume(extents); ++k) {
      Coordinates x = unravel(k, extents);
      x[mu] = face % 2 == 0 ? slice : lattice.local()[mu] - 1 - slice;
      if (Lattice::parity_of(x) == parity) slots.push_back(layout.slot(x));
    }
    // In the order of slots, a direction that lanes do not split sends whole blocks.
    std::sort(slots.begin() + first, slots.end());
  }
  return slots;
}

FaceSites face_sites(const SiteLayout& layout, Parity parity, int depth) {
  FaceSites faces;
  for (int face = 0; face < 8; ++face) {
    faces.first_block[face] = faces.blocks;
    faces.slots[face] = sites_of_face(layout, parity, depth, face);
    faces.blocks += std::int32_t((faces.slots[face].size() + layout.lanes() - 1) / layout.lanes());
  }
  return faces;
}

NeighbourTable build_neighbour_table(const SiteLayout& layout, const Boundary& boundary, Stencil stencil, Parity target,
                                     const FaceSites& faces) {
  const NeighbourFinder finder(layout, boundary, opposite(target), faces, depth_of(stencil));
  NeighbourTable table;
  table.neighbours.resize(std::size_t(layout.blocks()) * legs_of(stencil));
  const int ranges = (layout.blocks() + blocks_per_range - 1) / blocks_per_range;
  std::vector<FoundNeighbours> found(std::size_t(ranges), FoundNeighbours{});
  std::exception_ptr failure;  // memory may run out, and no exception may leave the region
#pragma omp parallel for
  for (int range = 0; range < ranges; ++range) {
    const int first = range * blocks_per_range, last = std::min(layout.blocks(), first + blocks_per_range);
    try {
      found[range] = find_neighbours(finder, layout, stencil, target, first, last, table.neighbours.data());
    } catch (...) {
#pragma omp critical
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
  // Special neighbours and copies of links are numbered as CPU kernels read them: block by block, for improved quarks
  // leg by leg.
  const int legs = legs_of(stencil);
  std::vector<std::vector<const FoundNeighbours::Special*>> in_order(stencil == Stencil::improved ? std::size_t(legs)
                                                                                                  : 1);
  for (const FoundNeighbours& part : found) {
    for (const FoundNeighbours::Special& special : part.special)
      in_order[special.first % in_order.size()].push_back(&special);
    table.interior_blocks.insert(table.interior_blocks.end(), part.interior_blocks.begin(), part.interior_blocks.end());
    table.boundary_blocks.insert(table.boundary_blocks.end(), part.boundary_blocks.begin(), part.boundary_blocks.end());
  }
  for (const auto& specials : in_order)
    for (const FoundNeighbours::Special* found_special : specials) {
      const auto& [place, special] = *found_special;
      const int block = int(place / std::size_t(legs));
      const Leg leg = leg_of(stencil, int(place % std::size_t(legs)));
      auto& links_behind = table.special_link_of[std::size_t(leg.set)];
      table.neighbours[place] = ~std::int32_t(table.special.size());
      table.special.push_back(special);
      table.special_link.push_back(leg.forward ? -1 : std::int32_t(links_behind.size()));
      if (!leg.forward) links_behind.push_back({block, leg.mu});
    }
  return table;
}

}  // namespace staghorn
