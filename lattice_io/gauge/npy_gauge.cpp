// Gauge configurations in NumPy's arrays, as PyQUDA writes them: complex, shape (4, T, Z, Y, X, 3, 3), direction mu =
// x, y, z, t first. Nothing in them says whether they are intact.
#include <algorithm>

#include "halo/watch/error.hpp"
#include "lattice_io/files/npy.hpp"
#include "lattice_io/gauge/gauge_format.hpp"

namespace staghorn {

namespace {

class NpyFrame : public GaugeFrame {
 public:
  explicit NpyFrame(const GaugeHeader& header) : header_(header) {}

  std::vector<std::int64_t> begin(const std::string& path) override {
    const Extents& e = header_.extents;
    const std::string text = npy_header({4, e[3], e[2], e[1], e[0], 3, 3}, header_.precision);
    PosixFile file = PosixFile::open_to_write(path);
    file.write_text(0, text);
    file.flush_and_close();
    return {std::int64_t(text.size())};
  }

  void finish(const std::string&, const GaugeNumbers&) override {}

 private:
  GaugeHeader header_;
};

}  // namespace

GaugeHeader read_npy_gauge_header(const PosixFile& file) {
  const NpyArray array = read_npy_header(file);
  const std::vector<std::int64_t>& shape = array.shape;
  if (shape.size() != 7 || shape[0] != 4 || shape[5] != 3 || shape[6] != 3)
    throw FileError(
        file.path() + ": shape of links in an array of NumPy",
        "(4, T, Z, Y, X, 3, 3), mu = x, y, z, t first (numpy.moveaxis(links, 4, 0) makes it of (T, Z, Y, X, 4, "
        "3, 3))",
        shape_text(shape));
  GaugeHeader header;
  header.path = file.path();
  header.format = GaugeFormat::npy;
  header.order = LinkOrder::by_direction;
  header.precision = array.precision;
  header.big_endian = array.big_endian;
  header.data_offset = array.data_offset;
  header.fields["shape"] = shape_text(shape);
  for (std::size_t mu = 0; mu < 4; ++mu) header.extents[mu] = int(shape[4 - mu]);
  require_usable_extents(file.path(), header.extents);
  if (shape[4] == 4)
    header.warnings.push_back("shape " + shape_text(shape) +
                              " is read as U[mu, T, Z, Y, X, 3, 3], and fits U[T, Z, Y, X, mu, 3, 3] too");
  return header;
}

std::unique_ptr<GaugeFrame> npy_frame(const GaugeHeader& header) { return std::make_unique<NpyFrame>(header); }

}  // namespace staghorn
