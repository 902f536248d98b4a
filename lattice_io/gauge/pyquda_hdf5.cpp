// PyQUDA's gauge configurations in HDF5: a group, LatticeColorMatrix, with a dataset for each direction, complex of
// shape (T, Z, Y, X, 3, 3), whose names PyQUDA's user chose. Each has attributes sum29 and sum31 (checksums.hpp). The
// group has Lattice, the extents X Y Z T, and Color, 3; files by Staghorn have the names X, Y, Z, T.
#include <algorithm>
#include <array>

#include "halo/watch/error.hpp"
#include "lattice_io/files/header_text.hpp"
#include "lattice_io/files/npy.hpp"
#include "lattice_io/gauge/gauge_format.hpp"
#include "lattice_io/hdf5/catalogue.hpp"
#include "lattice_io/hdf5/new_file.hpp"

namespace staghorn {

namespace {

using Names = std::array<const char*, 4>;
constexpr Names known_names[] = {
    {"0", "1", "2", "3"}, {"1", "2", "3", "4"}, {"X", "Y", "Z", "T"}, {"x", "y", "z", "t"}};

constexpr const Names& names_written = known_names[2];

// The names of the four directions in order, if `found` are such.
std::optional<Names> directions_of(std::vector<std::string> found) {
  for (const Names& names : known_names) {
    std::vector<std::string> sorted(names.begin(), names.end());
    std::sort(sorted.begin(), sorted.end());
    if (sorted == found) return names;
  }
  return std::nullopt;
}

void take_direction(GaugeHeader& header, const std::string& name, const Hdf5Dataset& dataset) {
  const std::vector<std::int64_t>& shape = dataset.shape;
  if (shape.size() != 6 || shape[4] != 3 || shape[5] != 3)
    throw FileError(header.path + ": shape of dataset " + name, "(T, Z, Y, X, 3, 3)", shape_text(shape));
  Extents extents{};
  for (std::size_t mu = 0; mu < 4; ++mu) extents[mu] = int(std::min<std::int64_t>(shape[3 - mu], 1 << 30));
  if (header.datasets.empty()) {
    header.extents = extents;
    header.precision = dataset.precision;
  }
  if (extents != header.extents || dataset.precision != header.precision)
    throw FileError(header.path + ": dataset " + name,
                    to_string(header.extents) + " sites and " + to_string(header.precision) + " as in the others",
                    to_string(extents) + " and " + to_string(dataset.precision));
  header.datasets.push_back(name);
  header.hdf5.push_back(std::make_shared<Hdf5Dataset>(dataset));
  for (const std::string sum : {"sum29", "sum31"})
    if (dataset.attributes.count(sum)) header.checksums[sum + " of " + name] = dataset.attributes.at(sum);
  for (const auto& [key, value] : dataset.attributes) header.fields[name + ": " + key] = value;
}

class PyqudaFrame : public GaugeFrame {
 public:
  explicit PyqudaFrame(const GaugeHeader& header) : header_(header) {}

  std::vector<std::int64_t> begin(const std::string& path) override {
    const Extents& e = header_.extents;
    std::vector<NewHdf5Dataset> datasets;
    for (const std::string& name : header_.datasets)
      datasets.push_back({name, {e[3], e[2], e[1], e[0], 3, 3}, header_.precision});
    return begin_hdf5(path, datasets);
  }

  void finish(const std::string& path, const GaugeNumbers& numbers) override {
    std::string lattice;
    for (const int extent : header_.extents) lattice += (lattice.empty() ? "" : " ") + std::to_string(extent);
    std::vector<Hdf5Attributes> objects = {
        {pyquda_group,
         {{"Annotation", creator() + ", " + creation_date()}, {"Color", "3"}, {"Lattice", lattice}},
         {},
         true}};
    for (std::size_t mu = 0; mu < 4; ++mu) {
      Hdf5Attributes& direction = objects.emplace_back(Hdf5Attributes{header_.datasets[mu], {}, {}, true});
      for (const std::string sum : {"sum29", "sum31"})
        direction.texts[sum] = numbers.checksums.at(checksum_name(header_, int(mu), sum));
    }
    finish_hdf5(path, objects);
  }

 private:
  GaugeHeader header_;
};

}  // namespace

std::unique_ptr<GaugeFrame> pyquda_frame(GaugeHeader& header) {
  for (const char* direction : names_written) header.datasets.push_back(std::string(pyquda_group) + "/" + direction);
  return std::make_unique<PyqudaFrame>(header);
}

std::optional<GaugeHeader> find_pyquda_links(const std::string& path, const std::string& name,
                                             const Hdf5Catalogue& file) {
  const std::vector<std::string> found = file.members_of(name);
  if (found.size() != 4) return std::nullopt;
  const std::optional<Names> names = directions_of(found);
  if (!names)
    throw FileError(path + ": datasets of group " + name,
                    "directions in order by the names 0, 1, 2, 3 or 1, 2, 3, 4 or X, Y, Z, T or x, y, z, t",
                    printable(found[0] + ", " + found[1] + ", " + found[2] + ", " + found[3]).substr(0, 200));
  GaugeHeader header;
  header.path = path;
  header.format = GaugeFormat::pyquda;
  header.order = LinkOrder::by_direction;
  header.big_endian = false;  // Hdf5SiteReader turns the others round
  for (const char* direction : *names) {
    const std::string dataset = name + "/" + direction;
    take_direction(header, dataset, file.dataset(dataset));
  }
  require_usable_extents(path, header.extents);
  return header;
}

}  // namespace staghorn
