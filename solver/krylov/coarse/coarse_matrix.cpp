#include "solver/krylov/coarse/coarse_matrix.hpp"

#include <algorithm>
#include <set>

#include "dirac/operators/plain_operator.hpp"
#include "halo/watch/activity.hpp"
#include "solver/krylov/coarse/vectors/cuda_coarse.hpp"

namespace staghorn {

namespace {

Coordinates sum(const Coordinates& a, const Coordinates& b) {
  return {a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]};
}
Coordinates difference(const Coordinates& a, const Coordinates& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]};
}

// The place of `item` in a list, at whose end it is put if it is not there.
int place_of(std::vector<Coordinates>& list, const Coordinates& item) {
  const auto found = std::find(list.begin(), list.end(), item);
  if (found != list.end()) return int(found - list.begin());
  list.push_back(item);
  return int(list.size()) - 1;
}

}  // namespace

BlockStencil::BlockStencil(const BlockGrid& grid, Stencil stencil) : hops{Coordinates{}} {
  for (int i = 0; i < grid.sites(); ++i) {
    std::set<int> of_site;
    std::vector<int> of_legs;
    for (int number = 0; number < legs_of(stencil); ++number) {
      const Leg leg = leg_of(stencil, number);
      Coordinates step{};
      const int extent = grid.block()[leg.mu],
                x = grid.place(Parity::odd, i)[leg.mu] + (leg.forward ? 1 : -1) * steps_of(leg.set);
      step[leg.mu] = x >= 0 ? x / extent : -((extent - 1 - x) / extent);
      of_legs.push_back(place_of(hops, grid.wrapped(step)));
      of_site.insert(of_legs.back());
    }
    slots.emplace_back(of_site.begin(), of_site.end());
    slot_of_leg.push_back(of_legs);
    first.push_back(entries);
    entries += std::int32_t(slots.back().size());
  }
  const std::size_t n = hops.size();
  rows.assign(n, std::vector<std::vector<RowPair>>(n));
  pair_of.assign(n, std::vector<int>(n, -1));
  for (int i = 0; i < grid.sites(); ++i)
    for (std::size_t a = 0; a < slots[i].size(); ++a)
      for (std::size_t b = 0; b < slots[i].size(); ++b) {
        const auto of_a = std::size_t(slots[i][a]), of_b = std::size_t(slots[i][b]);
        pair_of[of_a][of_b] = place_of(pairs, grid.wrapped(difference(hops[of_b], hops[of_a])));
        for (std::int32_t c = 0; c < 3; ++c)
          rows[of_a][of_b].push_back({3 * (first[i] + std::int32_t(a)) + c, 3 * (first[i] + std::int32_t(b)) + c});
      }
}

CoarseMatrix::CoarseMatrix(const Communicator& communicator, const OperatorLinks& links, const Boundary& boundary,
                           const BlockBasis& basis, MemorySpace space)
    : communicator_(communicator),
      grid_(basis.grid()),
      stencil_(grid_, links.stencil()),
      n_(basis.n()),
      width_(padded(n_)),
      sums_(communicator) {
  const Activity activity("coarse matrix");
  communicator.agree(
      [&] { numbers_ = Buffer(std::size_t(grid_.count() * neighbours() * matrix_size()) * sizeof(float)); });
  find_neighbours();
  add_shares(hops(links, boundary, basis), reinterpret_cast<float*>(numbers_.data()));
  if (space == MemorySpace::host) return;
  communicator.agree([&] {
    const auto to_gpu = [&](Buffer here) {
      Buffer there(here.bytes(), space);
      there.copy_from(here);
      return there;
    };
    numbers_ = to_gpu(std::move(numbers_));
    neighbours_on_gpu_ =
        to_gpu(Buffer::view(reinterpret_cast<std::byte*>(neighbour_.data()), neighbour_.size() * sizeof neighbour_[0]));
  });
}

double CoarseMatrix::predicted_bytes(const BlockGrid& grid, Stencil stencil, int n) {
  return double(grid.count()) * double(BlockStencil(grid, stencil).pairs.size()) * 2 * double(padded(n)) * n *
         sizeof(float);
}

double CoarseMatrix::predicted_set_up_bytes(const BlockGrid& grid, Stencil stencil, int n) {
  const double fields = 2 * lane_step * double(grid.lattice().local_volume()) * sizeof(ColorVector<double>);
  return double(grid.count()) * double(BlockStencil(grid, stencil).entries) * 6 * double(padded(n)) * sizeof(double) +
         fields;
}

// W of some columns after others, leg by leg: each leg of an odd site comes from one block. `lane_step` columns at a
// time are written side by side.
CoarseMatrix::Hops CoarseMatrix::hops(const OperatorLinks& links, const Boundary& boundary,
                                      const BlockBasis& basis) const {
  Hops w;
  std::vector<VectorField> columns, hopped;
  communicator_.agree([&] {
    w.resize(std::size_t(grid_.count() * stencil_.entries * 6 * width_));
    for (auto* const fields : {&columns, &hopped})
      for (int l = 0; l < lane_step; ++l) fields->emplace_back(grid_.lattice());
  });
  for (int first = 0; first < n_; first += lane_step) {
    const int n = std::min(lane_step, n_ - first);
    for (int l = 0; l < n; ++l) basis.column(first + l, columns[std::size_t(l)]);
    for (int number = 0; number < legs_of(links.stencil()); ++number) {
      const Leg leg = leg_of(links.stencil(), number);
      for (int l = 0; l < n; ++l)
        plain_leg(communicator_, links, boundary, hopped[std::size_t(l)], columns[std::size_t(l)], Parity::odd, leg);
#pragma omp parallel for schedule(static)
      for (std::int64_t b = 0; b < grid_.count(); ++b)
        for (int i = 0; i < grid_.sites(); ++i) {
          const std::vector<int>& slots = stencil_.slots[std::size_t(i)];
          const int slot = stencil_.slot_of_leg[std::size_t(i)][std::size_t(number)];
          const auto entry =
              stencil_.first[std::size_t(i)] + (std::find(slots.begin(), slots.end(), slot) - slots.begin());
          const std::int64_t site = grid_.site(b, Parity::odd, i);
          for (int c = 0; c < 3; ++c) {
            double* const to = w.data() + ((b * stencil_.entries + entry) * 3 + c) * 2 * width_ + first;
            for (int l = 0; l < n; ++l) to[l] += hopped[std::size_t(l)][site].c[c].re;
            for (int l = 0; l < n; ++l) to[width_ + l] += hopped[std::size_t(l)][site].c[c].im;
          }
        }
    }
  }
  return w;
}

void CoarseMatrix::share(const Hops& w, std::int64_t at, int a, double* to) const {
  const double* const of_block = w.data() + at * stencil_.entries * 6 * width_;
  for (std::size_t b = 0; b < stencil_.hops.size(); ++b)
    add_adjoint_product(of_block, of_block, stencil_.rows[std::size_t(a)][b], width_, n_,
                        to + std::int64_t(b) * matrix_size());
}

// Rows of block A: over a, the share of the block C = A - hops[a].
void CoarseMatrix::add_shares(const Hops& w, float* rows) {
  const auto n_hops = std::int64_t(stencil_.hops.size());
  const std::int64_t share_size = n_hops * matrix_size();
  const auto name = [&](const Coordinates& row, std::int64_t a) { return grid_.global_index(row) * n_hops + a; };
  BlockMessages::Items sent, received;
  for (std::int64_t b = 0; b < grid_.count(); ++b)
    for (std::int64_t a = 0; a < n_hops; ++a) {
      const Coordinates here = grid_.coordinates(b), step = stencil_.hops[std::size_t(a)],
                        row = grid_.wrapped(sum(here, step)), share = grid_.wrapped(difference(here, step));
      if (const int rank = grid_.rank_of(row); rank != communicator_.rank()) sent[rank].push_back(name(row, a));
      if (const int rank = grid_.rank_of(share); rank != communicator_.rank()) received[rank].push_back(name(here, a));
    }
  for (BlockMessages::Items* const all : {&sent, &received})
    for (auto& [rank, items] : *all) std::sort(items.begin(), items.end());
  std::map<std::int64_t, std::vector<double>> came;
  const BlockMessages messages(communicator_, std::move(sent), std::move(received));
  messages.exchange(
      share_size,
      [&](std::int64_t item, double* to) {
        std::fill(to, to + share_size, 0.0);
        const Coordinates row = grid_.global_coordinates(item / n_hops),
                          step = stencil_.hops[std::size_t(item % n_hops)];
        share(w, grid_.local_index(grid_.wrapped(difference(row, step))), int(item % n_hops), to);
      },
      [&](std::int64_t item, const double* from) { came[item].assign(from, from + share_size); });
#pragma omp parallel
  {
    std::vector<double> own, row(std::size_t(neighbours() * matrix_size()));
#pragma omp for schedule(dynamic)
    for (std::int64_t b = 0; b < grid_.count(); ++b) {
      std::fill(row.begin(), row.end(), 0.0);
      for (std::int64_t a = 0; a < n_hops; ++a) {
        const Coordinates here = grid_.coordinates(b),
                          of_share = grid_.wrapped(difference(here, stencil_.hops[std::size_t(a)]));
        const double* shares = nullptr;
        if (grid_.rank_of(of_share) == communicator_.rank()) {
          own.assign(std::size_t(share_size), 0);
          share(w, grid_.local_index(of_share), int(a), own.data());
          shares = own.data();
        } else {
          shares = came.at(name(here, a)).data();
        }
        for (std::int64_t to = 0; to < n_hops; ++to) {
          const int pair = stencil_.pair_of[std::size_t(a)][std::size_t(to)];
          if (pair < 0) continue;
          double* const matrix = row.data() + pair * matrix_size();
          for (std::int64_t i = 0; i < matrix_size(); ++i) matrix[i] += shares[to * matrix_size() + i];
        }
      }
      std::copy(row.begin(), row.end(), rows + b * neighbours() * matrix_size());
    }
  }
}

void CoarseMatrix::find_neighbours() {
  BlockMessages::Items sent, received;
  const auto needed = [&](const BlockGrid& grid, int owner) {  // blocks that the rank of `grid` needs
    std::map<int, std::set<std::int64_t>> found;
    for (std::int64_t b = 0; b < grid.count(); ++b)
      for (const Coordinates& step : stencil_.pairs) {
        const Coordinates there = grid.wrapped(sum(grid.coordinates(b), step));
        if (const int rank = grid.rank_of(there); rank != grid.lattice().rank() && (owner < 0 || rank == owner))
          found[rank].insert(grid.global_index(there));
      }
    return found;
  };
  std::set<std::int64_t> all;
  for (const auto& [rank, blocks] : needed(grid_, -1)) {
    received[rank].assign(blocks.begin(), blocks.end());
    all.insert(blocks.begin(), blocks.end());
    const auto theirs = needed(grid_.of_rank(rank), communicator_.rank());  // steps go both ways
    const auto& mine = theirs.at(communicator_.rank());
    sent[rank].assign(mine.begin(), mine.end());
  }
  received_.assign(all.begin(), all.end());
  for (std::int64_t b = 0; b < grid_.count(); ++b)
    for (const Coordinates& step : stencil_.pairs) {
      const Coordinates there = grid_.wrapped(sum(grid_.coordinates(b), step));
      const auto place = std::lower_bound(received_.begin(), received_.end(), grid_.global_index(there));
      neighbour_.push_back(grid_.rank_of(there) == communicator_.rank() ? grid_.local_index(there)
                                                                        : grid_.count() + (place - received_.begin()));
    }
  messages_ = std::make_unique<BlockMessages>(communicator_, std::move(sent), std::move(received));
}

// What blocks of other ranks hold of a vector.
void CoarseMatrix::exchange_ghosts(const CoarseVector& in) const {
  const std::int64_t of_block = in.n_rhs * 2 * in.width;
  ghosts_.resize(received_.size() * std::size_t(of_block));
  messages_->exchange(
      of_block,
      [&](std::int64_t item, double* to) {
        const double* const from = in.at(grid_.local_index(grid_.global_coordinates(item)), 0);
        std::copy(from, from + of_block, to);
      },
      [&](std::int64_t item, const double* from) {
        const auto place = std::lower_bound(received_.begin(), received_.end(), item) - received_.begin();
        std::copy(from, from + of_block, ghosts_.begin() + place * of_block);
      });
}

void CoarseMatrix::apply(const CoarseVector& in, CoarseVector& out) const {
  const std::int64_t of_block = in.n_rhs * 2 * in.width;
  if (numbers_.space() == MemorySpace::cuda) {
    if (communicator_.size() > 1) {
      exchange_ghosts(CoarseVector(in, MemorySpace::host));
      const std::size_t bytes = ghosts_.size() * sizeof(double);
      if (ghosts_on_gpu_.bytes() != bytes) ghosts_on_gpu_ = Buffer(bytes, MemorySpace::cuda);
      ghosts_on_gpu_.copy_from(Buffer::view(reinterpret_cast<std::byte*>(ghosts_.data()), bytes));
    }
    return cuda_apply_matrix({at(0, 0), reinterpret_cast<const std::int64_t*>(neighbours_on_gpu_.data()), neighbours()},
                             in, reinterpret_cast<const double*>(ghosts_on_gpu_.data()), out);
  }
  exchange_ghosts(in);
#pragma omp parallel for schedule(static)
  for (std::int64_t b = 0; b < grid_.count(); ++b) {
    std::fill(out.at(b, 0), out.at(b, 0) + of_block, 0.0);
    for (int pair = 0; pair < neighbours(); ++pair) {
      const std::int64_t from = neighbour_[std::size_t(b * neighbours() + pair)];
      const double* const v =
          from < grid_.count() ? in.at(from, 0) : ghosts_.data() + (from - grid_.count()) * of_block;
      for (int rhs = 0; rhs < in.n_rhs; ++rhs)
        add_columns(at(b, pair), width_, n_, v + rhs * 2 * in.width, in.width, out.at(b, rhs));
    }
  }
}

}  // namespace staghorn
