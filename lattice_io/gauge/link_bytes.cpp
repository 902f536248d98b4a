#include "lattice_io/gauge/link_bytes.hpp"

#include <cmath>
#include <vector>

#include "lattice_io/files/byte_order.hpp"
#include "lattice_io/gauge/gauge_format.hpp"

namespace staghorn {

namespace {

static_assert(sizeof(Links) == 4 * 18 * sizeof(double));

// Row 2 = conj(row 0 x row 1), for links in SU(3).
void complete_link(ColorMatrix<double>& u) {
  for (int j = 0; j < 3; ++j) {
    const Complex<double> a = u.e[0][(j + 1) % 3], b = u.e[1][(j + 2) % 3];
    const Complex<double> c = u.e[0][(j + 2) % 3], d = u.e[1][(j + 1) % 3];
    u.e[2][j] = {(a.re * b.re - a.im * b.im) - (c.re * d.re - c.im * d.im),
                 -((a.re * b.im + a.im * b.re) - (c.re * d.im + c.im * d.re))};
  }
}

// The reals of a site that one block holds: consecutive in Links, mu, row, column, real and imaginary part.
struct BlockReals {
  std::int64_t first, n;
};

BlockReals reals_of(LinkOrder order, int block) {
  if (order == LinkOrder::by_direction) return {18 * block, 18};
  if (order != LinkOrder::by_real) return {0, 72};
  const int part = block % 2, row = block / 2 % 3, column = block / 6 % 3, mu = block / 18;
  return {18 * mu + 6 * row + 2 * column + part, 1};
}

double* doubles_of(Links& site) { return &site[0].e[0][0].re; }
const double* doubles_of(const Links& site) { return &site[0].e[0][0].re; }

}  // namespace

void unpack_links(const GaugeHeader& header, int block, std::span<const std::byte> bytes, Links* sites) {
  const std::byte *from = bytes.data(), *end = bytes.data() + bytes.size();
  if (header.rows == 2) {
    for (; from != end; ++sites)
      for (auto& link : *sites) {
        decode_reals(from, 12, header.precision, header.big_endian, &link.e[0][0].re);
        complete_link(link);
        from += 12 * bytes_per_real(header.precision);
      }
    return;
  }
  const auto [first, n] = reals_of(header.order, block);
  for (; from != end; ++sites, from += n * bytes_per_real(header.precision))
    decode_reals(from, n, header.precision, header.big_endian, doubles_of(*sites) + first);
}

void find_byte_order(const PosixFile& file, GaugeHeader& header, const std::string& said) {
  std::byte bytes[48]{};
  file.read(header.data_offset, std::span(bytes).first(std::size_t(6 * bytes_per_real(header.precision))));
  const auto is_normal = [&](bool big_endian) {
    double row[6], norm2 = 0;
    decode_reals(bytes, 6, header.precision, big_endian, row);
    for (const double real : row) norm2 += real * real;
    return std::abs(norm2 - 1) < 1e-2;
  };
  if (is_normal(header.big_endian) || !is_normal(!header.big_endian)) return;
  header.big_endian = !header.big_endian;
  header.warnings.push_back(said + ", but the links are " + (header.big_endian ? "big-endian" : "little-endian"));
}

void pack_links(const GaugeHeader& header, int block, const Links* sites, std::span<std::byte> bytes) {
  std::byte *to = bytes.data(), *end = bytes.data() + bytes.size();
  if (header.rows == 2) {
    for (; to != end; ++sites)
      for (const auto& link : *sites) {
        encode_reals(&link.e[0][0].re, 12, header.precision, header.big_endian, to);
        to += 12 * bytes_per_real(header.precision);
      }
    return;
  }
  const auto [first, n] = reals_of(header.order, block);
  for (; to != end; ++sites, to += n * bytes_per_real(header.precision))
    encode_reals(doubles_of(*sites) + first, n, header.precision, header.big_endian, to);
}

LinkField links_as_stored(const GaugeHeader& header, const LinkField& links) {
  LinkField stored(links.lattice());
#pragma omp parallel
  {
    std::vector<std::byte> bytes(std::size_t(block_site_bytes(header)));
#pragma omp for schedule(static)
    for (std::int64_t site = 0; site < links.size(); ++site)
      for (int block = 0; block < n_blocks(header.order); ++block) {
        pack_links(header, block, &links[site], bytes);
        unpack_links(header, block, bytes, &stored[site]);
      }
  }
  return stored;
}

}  // namespace staghorn
