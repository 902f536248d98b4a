// How the sites of a file reach the ranks that own them: never whole on one rank, always in long contiguous pieces.
//
// A file holds sites in lexicographic order, x fastest. Its x-rows are cut into one contiguous part per rank; each rank
// reads (writes) its part slab by slab, and between two slabs the row pieces that others own travel to (from) them:
//
//      file   |rows of rank 0 ...........|rows of rank 1 ...........|     part = slab | slab | slab
//                slab --- all-to-all --->  owners' local x-rows
//
// So the file system sees few large accesses whatever the process grid, checksums run over the bytes as they lie in
// the file, and the memory used is a few slabs: at most 8 MiB a rank on the file's side, 256 MiB or one's own share of
// the field (whichever is less) on the owner's side. With t alone cut among ranks nothing travels at all.
// The threads of a rank share the pieces of a slab, which stays in their caches from the file to the field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "halo/communicator.hpp"
#include "halo/lattice.hpp"

namespace staghorn {

class SiteSlabs {
 public:
  // bytes_per_site as stored. Rank numbers of `communicator` and of `lattice` must agree. `slab_bytes` is a wish: a
  // slab holds at least one row. Both references must outlive this. Local.
  SiteSlabs(const Communicator& communicator, const Lattice& lattice, std::int64_t bytes_per_site,
            std::int64_t slab_bytes = std::int64_t{8} << 20);

  // Contiguous sites of the file, first_site counted over the whole lattice. Called by one thread. May throw: every
  // rank then throws.
  using Fetch = std::function<void(std::int64_t first_site, std::span<std::byte> sites)>;
  using Store = std::function<void(std::int64_t first_site, std::span<std::byte> sites)>;
  // Contiguous sites of this rank, first_site a local site index. Called by several threads at once; may not throw.
  using Place = std::function<void(std::int64_t first_site, std::span<const std::byte> sites)>;
  using Pack = std::function<void(std::int64_t first_site, std::span<std::byte> sites)>;

  // Fetches every site of the file once, on some rank, and places it on its owner. Collective.
  void read(const Fetch& fetch, const Place& place) const;
  // Packs every site on its owner and stores it, on some rank. Collective.
  void write(const Pack& pack, const Store& store) const;

 private:
  struct Rows {
    std::int64_t first, last;  // x-rows of the whole lattice, [first, last)
  };
  struct Round;  // who sends how much to whom

  Rows rows(int rank, std::int64_t round) const;
  Round plan(std::int64_t round) const;
  int owner(std::int64_t row, int piece) const;
  std::int64_t first_local_row_from(std::int64_t row) const;

  const Communicator& communicator_;
  const Lattice& lattice_;
  std::int64_t bytes_per_site_, n_rows_, rows_per_slab_, n_rounds_;
  std::vector<std::int64_t> own_rows_;  // this rank's x-rows as rows of the whole lattice, ascending
};

}  // namespace staghorn
