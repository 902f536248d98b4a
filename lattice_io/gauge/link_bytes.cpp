#include "lattice_io/gauge/link_bytes.hpp"

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

}  // namespace

void unpack_links(const GaugeHeader& header, std::span<const std::byte> bytes, Links* sites) {
  const std::int64_t link_reals = 6 * header.rows, link_bytes = link_reals * bytes_per_real(header.precision);
  for (const std::byte* from = bytes.data(); from != bytes.data() + bytes.size(); ++sites)
    for (auto& link : *sites) {
      decode_reals(from, link_reals, header.precision, header.big_endian, &link.e[0][0].re);
      if (header.rows == 2) complete_link(link);
      from += link_bytes;
    }
}

void pack_links(const GaugeHeader& header, const Links* sites, std::span<std::byte> bytes) {
  const std::int64_t link_reals = 6 * header.rows, link_bytes = link_reals * bytes_per_real(header.precision);
  for (std::byte* to = bytes.data(); to != bytes.data() + bytes.size(); ++sites)
    for (const auto& link : *sites) {
      encode_reals(&link.e[0][0].re, link_reals, header.precision, header.big_endian, to);
      to += link_bytes;
    }
}

LinkField links_as_stored(const GaugeHeader& header, const LinkField& links) {
  LinkField stored(links.lattice());
#pragma omp parallel
  {
    std::vector<std::byte> bytes(std::size_t(bytes_per_site(header)));
#pragma omp for schedule(static)
    for (std::int64_t site = 0; site < links.size(); ++site) {
      pack_links(header, &links[site], bytes);
      unpack_links(header, bytes, &stored[site]);
    }
  }
  return stored;
}

}  // namespace staghorn
