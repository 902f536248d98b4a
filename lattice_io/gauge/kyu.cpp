// KYU's gauge files: no header, big-endian fp64, and one block of all sites for each real of a link:
//
//   mu = x, y, z, t | column | row | real, imaginary | sites
//
// Nothing in them says what lattice they are of, or whether they are intact.
#include "halo/watch/error.hpp"
#include "lattice_io/gauge/gauge_format.hpp"

namespace staghorn {

namespace {

class KyuFrame : public GaugeFrame {
 public:
  std::vector<std::int64_t> begin(const std::string&) override { return {0}; }
  void finish(const std::string&, const GaugeNumbers&) override {}
};

GaugeHeader kyu_header(const std::string& path, const Extents& extents) {
  GaugeHeader header;
  header.path = path;
  header.format = GaugeFormat::kyu;
  header.order = LinkOrder::by_real;
  header.extents = extents;
  header.precision = Precision::fp64;
  header.data_offset = 0;
  require_usable_extents(path, extents);
  const std::int64_t expected = volume(extents) * bytes_per_site(header);
  const std::int64_t found = PosixFile::open_to_read(path).size();
  if (expected != found)
    throw FileError(path + ": links of " + to_string(extents) + " in KYU's format", std::to_string(expected) + " bytes",
                    found);
  return header;
}

}  // namespace

GaugeHeader read_kyu_header(const Communicator& communicator, const std::string& path, const Extents& extents) {
  GaugeHeader header;
  communicator.agree([&] { header = kyu_header(path, extents); });
  return header;
}

std::unique_ptr<GaugeFrame> kyu_frame(const GaugeHeader& header) {
  if (header.precision != Precision::fp64)
    throw Error(header.path + ": KYU's format", "precision fp64 (it has no other)", to_string(header.precision));
  return std::make_unique<KyuFrame>();
}

}  // namespace staghorn
