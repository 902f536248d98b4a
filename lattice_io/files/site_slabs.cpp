#include "lattice_io/files/site_slabs.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "halo/watch/activity.hpp"
#include "halo/watch/error.hpp"

namespace staghorn {

namespace {

constexpr std::int64_t file_side_limit = std::int64_t{8} << 20;     // bytes of a slab
constexpr std::int64_t owner_side_limit = std::int64_t{256} << 20;  // bytes that can arrive on one rank in one round

std::vector<int> offsets_of(const std::vector<int>& counts) {
  std::vector<int> offsets(counts.size(), 0);
  for (std::size_t i = 1; i < counts.size(); ++i) offsets[i] = offsets[i - 1] + counts[i - 1];
  return offsets;
}

std::size_t total(const std::vector<int>& counts) {
  std::size_t sum = 0;
  for (const int count : counts) sum += std::size_t(count);
  return sum;
}

}  // namespace

// What one round moves between the slab of this rank, the messages, and the sites that this rank owns.
struct SiteSlabs::Round {
  // Part of an x-row that one rank owns.
  struct Piece {
    int rank;             // the other side: the owner (in `pieces`), or the rank in whose slab it lies (`remote_rows`)
    std::int64_t at;      // first byte in the messages, if the other side is another rank
    std::int64_t site;    // first local site, if this rank is the owner
    std::size_t in_slab;  // first byte in the slab, and bytes (in `pieces`)
    std::size_t bytes;
    std::span<std::byte> of(std::vector<std::byte>& slab) const { return std::span(slab).subspan(in_slab, bytes); }
  };
  Rows slab;
  std::vector<Piece> pieces;       // all pieces of the slab, in the order of the file
  std::vector<Piece> remote_rows;  // pieces that this rank owns and that lie in slabs of other ranks
  // Bytes of the messages to and from each rank, and where they begin. A rank sends itself none.
  std::vector<int> slab_counts, slab_offsets, own_counts, own_offsets;
};

SiteSlabs::SiteSlabs(const Communicator& communicator, const Lattice& lattice, std::int64_t bytes_per_site,
                     RowOrder order)
    : communicator_(communicator),
      lattice_(lattice),
      order_(order),
      bytes_per_site_(bytes_per_site),
      rows_together_(order == RowOrder::halves_in_turns ? 2 : 1) {
  if (communicator.size() != volume(lattice.grid()) || communicator.rank() != lattice.rank())
    throw Error("site slabs", "the process grid of all " + std::to_string(communicator.size()) + " ranks",
                "grid " + to_string(lattice.grid()));
  const Extents &global = lattice.global(), &local = lattice.local(), &origin = lattice.origin();
  n_rows_ = lattice.global_volume() / global[0];
  const std::int64_t groups = n_rows_ / rows_together_;
  const std::int64_t groups_per_slab =
      std::max<std::int64_t>(1, slab_bytes(lattice, order) / (rows_together_ * global[0] * bytes_per_site));
  const std::int64_t longest_part = (groups + communicator.size() - 1) / communicator.size();
  rows_per_slab_ = rows_together_ * groups_per_slab;
  n_rounds_ = (longest_part + groups_per_slab - 1) / groups_per_slab;
  std::int64_t site = 0;
  for (int t = 0; t < local[3]; ++t)
    for (int z = 0; z < local[2]; ++z)
      for (int y = 0; y < local[1]; ++y, site += local[0]) {
        const std::int64_t row =
            lattice.global_site_index({0, origin[1] + y, origin[2] + z, origin[3] + t}) / global[0];
        own_rows_.push_back({file_row(row), site});
      }
  std::sort(own_rows_.begin(), own_rows_.end(), [](const OwnRow& a, const OwnRow& b) { return a.row < b.row; });
}

// The rows of an owner lie in the parts of those ranks whose part meets its slab of t; of each row it owns its slab of
// x. Parts are equal, so that a slab of w of T meets at most w / T of all ranks, and one more at each end.
std::int64_t SiteSlabs::slab_bytes(const Lattice& lattice, RowOrder order) {
  const auto widest = [&](int mu) -> std::int64_t { return std::ranges::max(lattice.widths()[std::size_t(mu)]); };
  const std::int64_t ranks = volume(lattice.grid()), extent = lattice.global()[3];
  const std::int64_t ends = order == RowOrder::halves_in_turns ? 2 : 1;  // of its slab, modulo T/2
  const std::int64_t senders = std::min(ranks, (ends * widest(3) * ranks + extent - 1) / extent + 2 * ends);
  return std::min(file_side_limit, owner_side_limit * lattice.global()[0] / widest(0) / senders);
}

std::int64_t SiteSlabs::lattice_row(std::int64_t row) const {
  return order_ == RowOrder::halves_in_turns ? row / 2 + row % 2 * (n_rows_ / 2) : row;
}

std::int64_t SiteSlabs::file_row(std::int64_t lattice_row) const {
  const std::int64_t half = n_rows_ / 2;
  return order_ == RowOrder::halves_in_turns ? 2 * (lattice_row % half) + lattice_row / half : lattice_row;
}

SiteSlabs::Rows SiteSlabs::rows(int rank, std::int64_t round) const {
  const std::int64_t groups = n_rows_ / rows_together_, first = rows_together_ * (groups * rank / communicator_.size()),
                     last = rows_together_ * (groups * (rank + 1) / communicator_.size());
  return {std::min(last, first + round * rows_per_slab_), std::min(last, first + (round + 1) * rows_per_slab_)};
}

// The rank that holds piece `piece` (counted along x) of an x-row of the file.
int SiteSlabs::owner(std::int64_t row, int piece) const {
  row = lattice_row(row);
  const Extents &global = lattice_.global(), &grid = lattice_.grid();
  const int y = int(row % global[1]), z = int(row / global[1] % global[2]), t = int(row / global[1] / global[2]);
  return piece +
         grid[0] * (lattice_.slab_of(1, y) + grid[1] * (lattice_.slab_of(2, z) + grid[2] * lattice_.slab_of(3, t)));
}

std::size_t SiteSlabs::first_own_row_from(std::int64_t row) const {
  const auto before = [](const OwnRow& own, std::int64_t row) { return own.row < row; };
  return std::size_t(std::lower_bound(own_rows_.begin(), own_rows_.end(), row, before) - own_rows_.begin());
}

SiteSlabs::Round SiteSlabs::plan(std::int64_t round) const {
  const int n_ranks = communicator_.size(), me = communicator_.rank();
  const auto own_bytes = std::int64_t(piece_bytes());
  Round plan{rows(me, round), {}, {}, std::vector<int>(n_ranks), {}, std::vector<int>(n_ranks), {}};
  std::size_t own_row = first_own_row_from(plan.slab.first);
  std::size_t in_slab = 0;
  for (std::int64_t row = plan.slab.first; row < plan.slab.last; ++row)
    for (int k = 0; k < lattice_.grid()[0]; ++k) {
      const int rank = owner(row, k);
      const auto bytes = std::size_t(lattice_.widths()[0][k] * bytes_per_site_);
      plan.pieces.push_back({rank, plan.slab_counts[rank], rank == me ? own_rows_[own_row++].site : 0, in_slab, bytes});
      in_slab += bytes;
      if (rank != me) plan.slab_counts[rank] += int(bytes);
    }
  plan.slab_offsets = offsets_of(plan.slab_counts);
  for (Round::Piece& piece : plan.pieces) piece.at += plan.slab_offsets[piece.rank];

  std::int64_t at = 0;
  for (int rank = 0; rank < n_ranks; ++rank) {
    if (rank == me) continue;
    const Rows slab = rows(rank, round);
    const std::size_t first = first_own_row_from(slab.first), last = first_own_row_from(slab.last);
    plan.own_counts[rank] = int(std::int64_t(last - first) * own_bytes);
    for (std::size_t row = first; row < last; ++row, at += own_bytes)
      plan.remote_rows.push_back({rank, at, own_rows_[row].site, 0, 0});
  }
  plan.own_offsets = offsets_of(plan.own_counts);
  return plan;
}

// The bytes of one round: on the file's side the slab and the pieces that other ranks own, on the owners' side the
// pieces that lie in slabs of other ranks.
struct SiteSlabs::Buffers {
  std::vector<std::byte> slab, file_side, owner_side;
};

void SiteSlabs::each_round(const std::function<void(const Round&, Buffers&)>& prepare,
                           const std::function<void(const Round&, Buffers&)>& move) const {
  Buffers buffers;
  for (std::int64_t round = 0; round < n_rounds_; ++round) {
    const Activity activity("sites between file and ranks");
    const Round plan = this->plan(round);
    communicator_.agree([&] {
      buffers.slab.resize(std::size_t((plan.slab.last - plan.slab.first) * lattice_.global()[0] * bytes_per_site_));
      buffers.file_side.resize(total(plan.slab_counts));
      buffers.owner_side.resize(total(plan.own_counts));
      prepare(plan, buffers);
    });
    move(plan, buffers);
  }
}

void SiteSlabs::read(const Fetch& fetch, const Place& place) const {
  const int me = communicator_.rank();
  const auto fetch_slab = [&](const Round& plan, Buffers& buffers) {
    if (!buffers.slab.empty()) fetch(plan.slab.first * lattice_.global()[0], buffers.slab);
  };
  each_round(fetch_slab, [&](const Round& plan, Buffers& buffers) {
#pragma omp parallel for schedule(static)
    for (std::size_t k = 0; k < plan.pieces.size(); ++k) {
      const Round::Piece& piece = plan.pieces[k];
      const std::span<std::byte> bytes = piece.of(buffers.slab);
      if (piece.rank == me)
        place(piece.site, bytes);
      else
        std::memcpy(buffers.file_side.data() + piece.at, bytes.data(), bytes.size());
    }
    if (communicator_.size() == 1) return;
    communicator_.enter();
    check_mpi(MPI_Alltoallv(buffers.file_side.data(), plan.slab_counts.data(), plan.slab_offsets.data(), MPI_BYTE,
                            buffers.owner_side.data(), plan.own_counts.data(), plan.own_offsets.data(), MPI_BYTE,
                            communicator_.handle()),
              "MPI_Alltoallv");
#pragma omp parallel for schedule(static)
    for (std::size_t k = 0; k < plan.remote_rows.size(); ++k)
      place(plan.remote_rows[k].site, std::span(buffers.owner_side).subspan(plan.remote_rows[k].at, piece_bytes()));
  });
}

void SiteSlabs::write(const Pack& pack, const Store& store) const {
  const int me = communicator_.rank();
  const auto nothing = [](const Round&, Buffers&) {};
  each_round(nothing, [&](const Round& plan, Buffers& buffers) {
    if (communicator_.size() > 1) {
#pragma omp parallel for schedule(static)
      for (std::size_t k = 0; k < plan.remote_rows.size(); ++k)
        pack(plan.remote_rows[k].site, std::span(buffers.owner_side).subspan(plan.remote_rows[k].at, piece_bytes()));
      communicator_.enter();
      check_mpi(MPI_Alltoallv(buffers.owner_side.data(), plan.own_counts.data(), plan.own_offsets.data(), MPI_BYTE,
                              buffers.file_side.data(), plan.slab_counts.data(), plan.slab_offsets.data(), MPI_BYTE,
                              communicator_.handle()),
                "MPI_Alltoallv");
    }
#pragma omp parallel for schedule(static)
    for (std::size_t k = 0; k < plan.pieces.size(); ++k) {
      const Round::Piece& piece = plan.pieces[k];
      const std::span<std::byte> bytes = piece.of(buffers.slab);
      if (piece.rank == me)
        pack(piece.site, bytes);
      else
        std::memcpy(bytes.data(), buffers.file_side.data() + piece.at, bytes.size());
    }
    communicator_.agree([&] {
      if (!buffers.slab.empty()) store(plan.slab.first * lattice_.global()[0], buffers.slab);
    });
  });
}

}  // namespace staghorn
