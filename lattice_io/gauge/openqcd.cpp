// openQCD's gauge files, little-endian, fp64. Only odd sites have links; each has eight:
//
//   int32 T, X, Y, Z | double mean Re tr U_P | odd sites: U_mu(x) and U_mu(x - mu), for mu = t, x, y, z
//
// Sites run with z fastest, then y, x and t. The plaquette is all that can be compared: a change of single low bits
// goes unseen. With open boundaries openQCD's plaquette has other weights; such a file is read with no_verify. [M.
// Luescher, openQCD: main/README.io and modules/archive]
#include <array>
#include <vector>

#include "halo/watch/error.hpp"
#include "lattice_io/files/byte_order.hpp"
#include "lattice_io/files/header_text.hpp"
#include "lattice_io/gauge/gauge_format.hpp"

namespace staghorn {

namespace {

constexpr std::int64_t openqcd_header_bytes = 4 * 4 + 8, link_bytes = 18 * 8, site_bytes = 8 * link_bytes;
constexpr std::array<int, 4> directions = {3, 0, 1, 2};  // mu in the order of the file

class OpenqcdFrame : public GaugeFrame {
 public:
  explicit OpenqcdFrame(const GaugeHeader& header) : header_(header) {}

  std::vector<std::int64_t> begin(const std::string&) override { return {openqcd_header_bytes}; }

  void finish(const std::string& path, const GaugeNumbers& numbers) override {
    std::array<std::byte, openqcd_header_bytes> bytes{};
    for (std::size_t k = 0; k < 4; ++k)
      store_word(bytes.data() + 4 * k, std::uint32_t(header_.extents[std::size_t(directions[k])]), false);
    store_word(bytes.data() + 16, std::bit_cast<std::uint64_t>(3 * numbers.plaquette), false);
    PosixFile file = PosixFile::open_to_write(path);
    file.write(0, bytes);
    file.flush_and_close();
  }

 private:
  GaugeHeader header_;
};

// The odd sites of this rank with equal t and x lie in runs: all y and z at once where neither is cut, else all z of a
// y. move(offset in the file, the sites of the run in the order of the file).
template <class Move>
void each_run(const Lattice& lattice, const Move& move) {
  const Extents &global = lattice.global(), &local = lattice.local(), &origin = lattice.origin();
  const int n_y = local[2] == global[2] ? local[1] : 1;  // of a run
  std::vector<std::int64_t> run;
  for (int t = 0; t < local[3]; ++t)
    for (int x = 0; x < local[0]; ++x)
      for (int y = 0; y < local[1]; y += n_y) {
        const std::int64_t row = (std::int64_t{t + origin[3]} * global[0] + x + origin[0]) * global[1] + y + origin[1];
        run.clear();
        for (int k = y; k < y + n_y; ++k)
          for (int z = (t + x + k + 1) % 2; z < local[2]; z += 2) run.push_back(lattice.site_index({x, k, z, t}));
        move(openqcd_header_bytes + (row * global[2] + origin[2]) / 2 * site_bytes, run);
      }
}

double* reals_of(ColorMatrix<double>& link) { return &link.e[0][0].re; }
const double* reals_of(const ColorMatrix<double>& link) { return &link.e[0][0].re; }

bool is_even(const Lattice& lattice, std::int64_t site) {
  return Lattice::parity_of(lattice.site_coordinates(site)) == Parity::even;
}

}  // namespace

std::optional<GaugeHeader> find_openqcd_header(const PosixFile& file) {
  if (file.size() < openqcd_header_bytes) return std::nullopt;
  std::array<std::byte, openqcd_header_bytes> bytes{};
  file.read(0, bytes);
  GaugeHeader header;
  for (std::size_t k = 0; k < 4; ++k) {
    const auto extent = load_word<std::uint32_t>(bytes.data() + 4 * k, false);
    if (extent < 2 || extent > 4096 || extent % 2 != 0) return std::nullopt;
    header.extents[std::size_t(directions[k])] = int(extent);
  }
  header.path = file.path();
  header.format = GaugeFormat::openqcd;
  header.order = LinkOrder::at_odd_sites;
  header.precision = Precision::fp64;
  header.big_endian = false;
  header.data_offset = openqcd_header_bytes;
  if (require_complete(file, header) != 0) return std::nullopt;
  const double stored = std::bit_cast<double>(load_word<std::uint64_t>(bytes.data() + 16, false));
  header.checksums = {{"plaquette", shortest_digits(stored / 3)}};
  header.fields = {{"plaquette", shortest_digits(stored) + " (three times the mean Re tr U_P / 3)"}};
  return header;
}

std::unique_ptr<GaugeFrame> openqcd_frame(const GaugeHeader& header) {
  if (header.precision != Precision::fp64)
    throw Error(header.path + ": openQCD's format", "precision fp64 (it has no other)", to_string(header.precision));
  return std::make_unique<OpenqcdFrame>(header);
}

void read_openqcd_links(const Communicator& communicator, const GaugeHeader& header, LinkField& links) {
  const Lattice& lattice = links.lattice();
  LinkField behind(lattice);  // at odd sites U_mu(x - mu)
  communicator.agree([&] {
    const PosixFile file = PosixFile::open_to_read(header.path);
    std::vector<std::byte> bytes;
    each_run(lattice, [&](std::int64_t offset, const std::vector<std::int64_t>& run) {
      bytes.resize(run.size() * std::size_t(site_bytes));
      file.read(offset, bytes);
      const std::byte* from = bytes.data();
      for (const std::int64_t site : run)
        for (const int mu : directions)
          for (LinkField* field : {&links, &behind}) {
            decode_reals(from, 18, Precision::fp64, false, reals_of((*field)[site][std::size_t(mu)]));
            from += link_bytes;
          }
    });
  });
  for (int mu = 0; mu < 4; ++mu) {
    const NeighbourSites<Links> ahead(communicator, behind, mu, +1);
#pragma omp parallel for schedule(static)
    for (std::int64_t site = 0; site < links.size(); ++site)
      if (is_even(lattice, site)) links[site][std::size_t(mu)] = ahead[site][std::size_t(mu)];
  }
}

void write_openqcd_links(const Communicator& communicator, const PosixFile& file, const LinkField& links) {
  const Lattice& lattice = links.lattice();
  const std::array<NeighbourSites<Links>, 4> behind = {
      NeighbourSites<Links>(communicator, links, 0, -1), NeighbourSites<Links>(communicator, links, 1, -1),
      NeighbourSites<Links>(communicator, links, 2, -1), NeighbourSites<Links>(communicator, links, 3, -1)};
  communicator.agree([&] {
    std::vector<std::byte> bytes;
    each_run(lattice, [&](std::int64_t offset, const std::vector<std::int64_t>& run) {
      bytes.resize(run.size() * std::size_t(site_bytes));
      std::byte* to = bytes.data();
      for (const std::int64_t site : run)
        for (const int direction : directions) {
          const auto mu = std::size_t(direction);
          for (const ColorMatrix<double>* link : {&links[site][mu], &behind[mu][site][mu]}) {
            encode_reals(reals_of(*link), 18, Precision::fp64, false, to);
            to += link_bytes;
          }
        }
      file.write(offset, bytes);
    });
  });
}

}  // namespace staghorn
