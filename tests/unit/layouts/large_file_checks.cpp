// Files and lattices of more than 2^32 and 2^40 bytes: offsets stay whole numbers of 64 bits.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <string>

#include "lattice_io/files/posix_file.hpp"
#include "lattice_io/files/site_slabs.hpp"
#include "tests/unit/unit_checks.hpp"

namespace staghorn {

namespace {

// A sparse file: what is written far behind its beginning takes no more than its own block of the disk.
bool a_file_is_written_and_read_beyond_every_power_of_two() {
  std::array<char, 32> name{"/tmp/staghorn-large-XXXXXX"};
  const int made = ::mkstemp(name.data());
  if (!CHECK(made >= 0)) return false;
  ::close(made);
  bool ok = true;
  {
    PosixFile file = PosixFile::open_to_write(name.data());
    for (const int power : {31, 32, 40, 41})
      file.write_text((std::int64_t{1} << power) - 3, "at " + std::to_string(power));  // across it
    for (const int power : {31, 32, 40, 41})
      ok = ok && CHECK(file.read_text((std::int64_t{1} << power) - 3, 5) == "at " + std::to_string(power));
    ok = ok && CHECK(file.read_text(std::int64_t{1} << 39, 3) == std::string(3, '\0')) &&
         CHECK(file.size() == (std::int64_t{1} << 41) + 2);
    file.flush_and_close();
  }
  ::unlink(name.data());
  return ok;
}

// As many links in fp64 as on 144^3 x 288, 495 GB, in fewer rows. One rank fetches all sites in the order of the file,
// and places each once.
bool sites_of_large_lattices_are_fetched_at_their_offsets() {
  const Communicator communicator(MPI_COMM_SELF);
  const Lattice lattice({1152, 72, 72, 144}, {1, 1, 1, 1}, 0);
  constexpr std::int64_t site_bytes = 576;
  std::int64_t fetched = 0, largest = 0;
  std::atomic<std::int64_t> placed = 0, sum = 0;
  bool in_order = true;
  const auto fetch = [&](std::int64_t first, std::span<std::byte> sites) {
    in_order = in_order && first == fetched;
    fetched += std::int64_t(sites.size()) / site_bytes;
    largest = std::max(largest, std::int64_t(sites.size()));
  };
  SiteSlabs(communicator, lattice, site_bytes).read(fetch, [&](std::int64_t first, std::span<const std::byte> sites) {
    const std::int64_t n = std::int64_t(sites.size()) / site_bytes;
    placed += n;
    sum += first / 1152 * n / 1152;  // of the numbers of the rows
  });
  const std::int64_t rows = lattice.global_volume() / 1152;
  return CHECK(in_order) && CHECK(fetched == lattice.global_volume()) && CHECK(placed == lattice.global_volume()) &&
         CHECK(sum == rows * (rows - 1) / 2) && CHECK(largest > (std::int64_t{7} << 20)) &&
         CHECK(largest <= (std::int64_t{8} << 20));
}

// What arrives at an owner in one round, counted for every owner and sender, stays within 256 MiB; and requests are
// large.
bool slabs_are_as_large_as_owners_can_take() {
  struct Case {
    Extents lattice, grid;
    std::int64_t least;  // of a slab, MiB
  };
  bool ok = true;
  for (const Case& of : {Case{{192, 192, 192, 384}, {4, 4, 4, 8}, 8}, Case{{192, 192, 192, 384}, {1, 1, 1, 192}, 8},
                         Case{{96, 96, 96, 192}, {8, 8, 8, 8}, 3}, Case{{48, 48, 48, 96}, {1, 8, 8, 1}, 3}}) {
    const Lattice lattice(of.lattice, of.grid, 0);
    const std::int64_t slab = SiteSlabs::slab_bytes(lattice), ranks = volume(of.grid);
    const std::int64_t rows = lattice.global_volume() / of.lattice[0], row_bytes = of.lattice[0] * 288;
    const std::int64_t rows_per_slab = slab / row_bytes, own_row_bytes = row_bytes / of.grid[0];
    ok = ok && CHECK(slab >= of.least << 20) && CHECK(slab <= std::int64_t{8} << 20);
    for (const std::int64_t round : {std::int64_t{0}, rows / ranks / rows_per_slab / 2}) {
      std::vector<std::int64_t> arriving(std::size_t(volume(of.grid) / of.grid[0]));  // by the slabs of y, z, t
      for (std::int64_t sender = 0; sender < ranks; ++sender) {
        const std::int64_t first = rows * sender / ranks + round * rows_per_slab;
        for (std::int64_t row = first; row < std::min(rows * (sender + 1) / ranks, first + rows_per_slab); ++row) {
          const std::int64_t y = row % of.lattice[1], z = row / of.lattice[1] % of.lattice[2],
                             t = row / of.lattice[1] / of.lattice[2];
          const std::int64_t owner =
              lattice.slab_of(1, int(y)) +
              of.grid[1] * (lattice.slab_of(2, int(z)) + std::int64_t(of.grid[2]) * lattice.slab_of(3, int(t)));
          arriving[std::size_t(owner)] += own_row_bytes;
        }
      }
      ok = ok && CHECK(std::ranges::max(arriving) <= std::int64_t{256} << 20);
    }
  }
  return ok;
}

}  // namespace

std::vector<UnitCheck> large_file_checks() {
  return {UNIT_CHECK(a_file_is_written_and_read_beyond_every_power_of_two),
          UNIT_CHECK(sites_of_large_lattices_are_fetched_at_their_offsets),
          UNIT_CHECK(slabs_are_as_large_as_owners_can_take)};
}

}  // namespace staghorn
