#include "lattice_io/site_slabs.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "halo/error.hpp"
#include "halo/phase.hpp"

namespace staghorn {

namespace {

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

// Bytes exchanged with each rank in one round, on the file's side and on the owner's side.
struct SiteSlabs::Round {
  Rows slab;
  std::vector<int> slab_counts, slab_offsets;
  std::vector<int> own_counts, own_offsets;
};

SiteSlabs::SiteSlabs(const Communicator& communicator, const Lattice& lattice, std::int64_t bytes_per_site,
                     std::int64_t slab_bytes)
    : communicator_(communicator), lattice_(lattice), bytes_per_site_(bytes_per_site) {
  if (communicator.size() != volume(lattice.grid()) || communicator.rank() != lattice.rank())
    throw Error("site slabs", "the process grid of all " + std::to_string(communicator.size()) + " ranks",
                "grid " + to_string(lattice.grid()));
  const Extents &global = lattice.global(), &local = lattice.local(), &origin = lattice.origin();
  n_rows_ = lattice.global_volume() / global[0];
  slab_bytes = std::min(slab_bytes, owner_side_limit / communicator.size());
  rows_per_slab_ = std::max<std::int64_t>(1, slab_bytes / (global[0] * bytes_per_site));
  const std::int64_t longest_part = (n_rows_ + communicator.size() - 1) / communicator.size();
  n_rounds_ = (longest_part + rows_per_slab_ - 1) / rows_per_slab_;
  for (int t = 0; t < local[3]; ++t)
    for (int z = 0; z < local[2]; ++z)
      for (int y = 0; y < local[1]; ++y)
        own_rows_.push_back(lattice.global_site_index({0, origin[1] + y, origin[2] + z, origin[3] + t}) / global[0]);
}

SiteSlabs::Rows SiteSlabs::rows(int rank, std::int64_t round) const {
  const std::int64_t first = n_rows_ * rank / communicator_.size(), last = n_rows_ * (rank + 1) / communicator_.size();
  return {std::min(last, first + round * rows_per_slab_), std::min(last, first + (round + 1) * rows_per_slab_)};
}

// The rank that holds piece `piece` (counted along x) of an x-row.
int SiteSlabs::owner(std::int64_t row, int piece) const {
  const Extents &global = lattice_.global(), &local = lattice_.local(), &grid = lattice_.grid();
  const int y = int(row % global[1]), z = int(row / global[1] % global[2]), t = int(row / global[1] / global[2]);
  return piece + grid[0] * (y / local[1] + grid[1] * (z / local[2] + grid[2] * (t / local[3])));
}

std::int64_t SiteSlabs::first_local_row_from(std::int64_t row) const {
  return std::lower_bound(own_rows_.begin(), own_rows_.end(), row) - own_rows_.begin();
}

SiteSlabs::Round SiteSlabs::plan(std::int64_t round) const {
  const int n_ranks = communicator_.size();
  const int piece_bytes = int(lattice_.local()[0] * bytes_per_site_);
  Round plan{rows(communicator_.rank(), round), std::vector<int>(n_ranks), {}, std::vector<int>(n_ranks), {}};
  for (std::int64_t row = plan.slab.first; row < plan.slab.last; ++row)
    for (int piece = 0; piece < lattice_.grid()[0]; ++piece) plan.slab_counts[owner(row, piece)] += piece_bytes;
  for (int rank = 0; rank < n_ranks; ++rank) {
    const Rows slab = rows(rank, round);
    plan.own_counts[rank] = int(first_local_row_from(slab.last) - first_local_row_from(slab.first)) * piece_bytes;
  }
  plan.slab_offsets = offsets_of(plan.slab_counts);
  plan.own_offsets = offsets_of(plan.own_counts);
  return plan;
}

void SiteSlabs::read(const Fetch& fetch, const Place& place) const {
  const std::int64_t row_sites = lattice_.global()[0], piece_sites = lattice_.local()[0];
  const std::int64_t piece_bytes = piece_sites * bytes_per_site_;
  std::vector<std::byte> slab, outgoing, incoming;
  for (std::int64_t round = 0; round < n_rounds_; ++round) {
    const Phase phase("sites between file and ranks");
    const Round plan = this->plan(round);
    communicator_.agree([&] {
      slab.resize(std::size_t((plan.slab.last - plan.slab.first) * row_sites * bytes_per_site_));
      outgoing.resize(slab.size());
      incoming.resize(total(plan.own_counts));
      if (!slab.empty()) fetch(plan.slab.first * row_sites, slab);
    });

    std::vector<int> next = plan.slab_offsets;
    const std::byte* from = slab.data();
    for (std::int64_t row = plan.slab.first; row < plan.slab.last; ++row)
      for (int piece = 0; piece < lattice_.grid()[0]; ++piece, from += piece_bytes) {
        int& at = next[owner(row, piece)];
        std::memcpy(outgoing.data() + at, from, std::size_t(piece_bytes));
        at += int(piece_bytes);
      }
    check_mpi(
        MPI_Alltoallv(outgoing.data(), plan.slab_counts.data(), plan.slab_offsets.data(), MPI_BYTE, incoming.data(),
                      plan.own_counts.data(), plan.own_offsets.data(), MPI_BYTE, communicator_.handle()),
        "MPI_Alltoallv");
    for (int rank = 0; rank < communicator_.size(); ++rank) {  // whole x-rows of this rank, in ascending order
      if (plan.own_counts[rank] == 0) continue;
      place(first_local_row_from(rows(rank, round).first) * piece_sites,
            std::span(incoming).subspan(plan.own_offsets[rank], plan.own_counts[rank]));
    }
  }
}

void SiteSlabs::write(const Pack& pack, const Store& store) const {
  const std::int64_t row_sites = lattice_.global()[0], piece_sites = lattice_.local()[0];
  const std::int64_t piece_bytes = piece_sites * bytes_per_site_;
  std::vector<std::byte> slab, outgoing, incoming;
  for (std::int64_t round = 0; round < n_rounds_; ++round) {
    const Phase phase("sites between file and ranks");
    const Round plan = this->plan(round);
    communicator_.agree([&] {
      slab.resize(std::size_t((plan.slab.last - plan.slab.first) * row_sites * bytes_per_site_));
      incoming.resize(slab.size());
      outgoing.resize(total(plan.own_counts));
    });
    for (int rank = 0; rank < communicator_.size(); ++rank) {
      if (plan.own_counts[rank] == 0) continue;
      pack(first_local_row_from(rows(rank, round).first) * piece_sites,
           std::span(outgoing).subspan(plan.own_offsets[rank], plan.own_counts[rank]));
    }
    check_mpi(MPI_Alltoallv(outgoing.data(), plan.own_counts.data(), plan.own_offsets.data(), MPI_BYTE, incoming.data(),
                            plan.slab_counts.data(), plan.slab_offsets.data(), MPI_BYTE, communicator_.handle()),
              "MPI_Alltoallv");
    std::vector<int> next = plan.slab_offsets;
    std::byte* to = slab.data();
    for (std::int64_t row = plan.slab.first; row < plan.slab.last; ++row)
      for (int piece = 0; piece < lattice_.grid()[0]; ++piece, to += piece_bytes) {
        int& at = next[owner(row, piece)];
        std::memcpy(to, incoming.data() + at, std::size_t(piece_bytes));
        at += int(piece_bytes);
      }
    communicator_.agree([&] {
      if (!slab.empty()) store(plan.slab.first * row_sites, slab);
    });
  }
}

}  // namespace staghorn
