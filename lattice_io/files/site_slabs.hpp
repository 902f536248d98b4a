// How the sites of a file reach the ranks that own them: never whole on one rank, always in long contiguous pieces.
//
// A file holds sites in lexicographic order, x fastest. Its x-rows are cut into one contiguous part per rank. Each rank
// reads (writes) its part slab by slab. After each slab that is read (before each that is written), pieces of rows
// travel to their owners (from their owners):
//
//      file   |rows of rank 0 ...........|rows of rank 1 ...........|     part = slab | slab | slab
//                slab --- all-to-all --->  owners' local x-rows
//
// So the file system sees few large accesses on any process grid, and checksums run over the bytes as they lie in the
// file. A rank needs at most 8 MiB on the file's side. On the owner's side it needs 256 MiB or its own share of the
// field, whichever is less: slabs are smaller where many ranks could send to one. If t alone is cut among ranks,
// nothing travels. The threads of a rank share the pieces of a slab. The slab stays in their caches from the file to
// the field.
//
// A file may hold its rows in another order than the lattice (RowOrder).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "halo/communicator.hpp"
#include "halo/lattice.hpp"

namespace staghorn {

// The order of x-rows (y, z, t) in a file: lexicographic, or a row of t < T/2 and that of t + T/2 in turns, by t. A
// slab has both rows of such a pair.
enum class RowOrder { lexicographic, halves_in_turns };

class SiteSlabs {
 public:
  // bytes_per_site as stored. Rank numbers of `communicator` and of `lattice` must agree. A slab holds at least one
  // row, or pair. Both references must outlive this. Local.
  SiteSlabs(const Communicator& communicator, const Lattice& lattice, std::int64_t bytes_per_site,
            RowOrder order = RowOrder::lexicographic);

  // The most bytes of a slab, if it holds at least one row. Local; depends on the widths alone.
  static std::int64_t slab_bytes(const Lattice& lattice, RowOrder order = RowOrder::lexicographic);

  // Contiguous sites of the file, first_site counted from its first row. Called by one thread. May throw: every
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
    std::int64_t first, last;  // x-rows of the file, [first, last)
  };
  struct OwnRow {
    std::int64_t row;   // of the file
    std::int64_t site;  // its first one of this rank, local
  };
  struct Round;    // who sends how much to whom
  struct Buffers;  // the bytes on their way

  Rows rows(int rank, std::int64_t round) const;
  Round plan(std::int64_t round) const;
  // Calls prepare, whose failure on one rank is one on all, and move for each slab. Collective.
  void each_round(const std::function<void(const Round&, Buffers&)>& prepare,
                  const std::function<void(const Round&, Buffers&)>& move) const;
  std::size_t piece_bytes() const { return std::size_t(lattice_.local()[0] * bytes_per_site_); }  // of an own row
  int owner(std::int64_t row, int piece) const;
  std::size_t first_own_row_from(std::int64_t row) const;
  // Row `row` of the file as a row of the lattice, and the inverse.
  std::int64_t lattice_row(std::int64_t row) const;
  std::int64_t file_row(std::int64_t lattice_row) const;

  const Communicator& communicator_;
  const Lattice& lattice_;
  RowOrder order_;
  std::int64_t bytes_per_site_, n_rows_, rows_together_, rows_per_slab_, n_rounds_;
  std::vector<OwnRow> own_rows_;  // this rank's x-rows, ascending in the file
};

}  // namespace staghorn
