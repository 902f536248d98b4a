#include "lattice_io/eigenvectors/milc_packed.hpp"

#include <cstring>
#include <vector>

#include "lattice_io/eigenvectors/even_rows.hpp"

namespace staghorn {

namespace {

// The packed site of vector k of a pair: k < X/2 counts the even sites of row (y, z, t), the others those of
// (y, z, t + T/2). Both rows have the same parity, (y + z + t) mod 2.
std::int64_t packed_x(std::int64_t k, std::int64_t extent, std::int64_t parity) {
  const std::int64_t half = extent / 2, x = 2 * (k % half) + parity;
  return k < half ? x : (x + extent - 1) % extent;
}

// Shuffles pairs of even rows into packed rows, or packed rows into pairs. first_site: the first packed site.
enum class Shuffle { pack, unpack };
void shuffle(Shuffle which, const Extents& e, std::int64_t first_site, std::span<std::byte> rows,
             std::int64_t site_bytes) {
  const std::vector<std::byte> before(rows.begin(), rows.end());
  const std::int64_t n_rows = std::int64_t(rows.size()) / (e[0] * site_bytes);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n_rows; ++i) {
    const std::int64_t row = first_site / e[0] + i, y = row % e[1], z = row / e[1] % e[2], t = row / e[1] / e[2];
    for (std::int64_t k = 0; k < e[0]; ++k) {
      const std::int64_t in_pair = i * e[0] + k, packed = i * e[0] + packed_x(k, e[0], (y + z + t) & 1);
      const bool pack = which == Shuffle::pack;
      std::memcpy(rows.data() + (pack ? packed : in_pair) * site_bytes,
                  before.data() + (pack ? in_pair : packed) * site_bytes, std::size_t(site_bytes));
    }
  }
}

SiteSlabs pairs_of_rows(const Communicator& communicator, const Lattice& lattice, std::int64_t site_bytes) {
  return {communicator, lattice, site_bytes / 2, RowOrder::halves_in_turns};
}

}  // namespace

Hypercube packed_half(const Extents& e) { return {{0, 0, 0, 0}, {e[0] - 1, e[1] - 1, e[2] - 1, e[3] / 2 - 1}}; }

ChecksumResults read_packed_sites(const Communicator& communicator, const Lattice& lattice, const PosixFile& file,
                                  const ScidacField& field,
                                  const std::function<void(std::int64_t site, const std::byte* from)>& place) {
  const std::int64_t site_bytes = field.bytes_per_site;
  const auto checksum = scidac_checksum(site_bytes);
  pairs_of_rows(communicator, lattice, site_bytes)
      .read(
          [&](std::int64_t first_half_site, std::span<std::byte> rows) {
            const std::int64_t first_site = first_half_site / 2;
            field.read(file, first_site, rows);
            checksum->add(first_site, rows);
            shuffle(Shuffle::unpack, lattice.global(), first_site, rows, site_bytes);
          },
          [&](std::int64_t first_site, std::span<const std::byte> rows) {
            each_even_site(lattice, first_site, rows, site_bytes, place);
          });
  return compare_checksums(field.checksums, checksum->combine(communicator));
}

void write_packed_sites(const Communicator& communicator, const Lattice& lattice, std::int64_t site_bytes,
                        const std::function<void(std::int64_t site, std::byte* to)>& pack,
                        const SiteSlabs::Store& store) {
  pairs_of_rows(communicator, lattice, site_bytes)
      .write([&](std::int64_t first_site,
                 std::span<std::byte> rows) { each_even_site(lattice, first_site, rows, site_bytes, pack); },
             [&](std::int64_t first_half_site, std::span<std::byte> rows) {
               shuffle(Shuffle::pack, lattice.global(), first_half_site / 2, rows, site_bytes);
               store(first_half_site / 2, rows);
             });
}

}  // namespace staghorn
