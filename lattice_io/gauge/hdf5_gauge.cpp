// Staghorn's own gauge format: an HDF5 file with one dataset that NumPy reads as it stands.
//
//   /links   complex {r, i}, fp32 or fp64, shape (T, Z, Y, X, 4, 3, 3): direction mu = x, y, z, t, row, column
//     attributes suma, sumb (SciDAC checksum over the little-endian bytes of each site), plaquette (mean Re tr U_P /
//     3), link_trace (mean Re tr U / 3), creator, date, and the metadata that the writer was given
#include <algorithm>

#include "halo/watch/error.hpp"
#include "lattice_io/files/npy.hpp"
#include "lattice_io/gauge/gauge_format.hpp"
#include "lattice_io/hdf5/catalogue.hpp"
#include "lattice_io/hdf5/new_file.hpp"

namespace staghorn {

namespace {

class Hdf5Frame : public GaugeFrame {
 public:
  Hdf5Frame(const GaugeHeader& header, const Metadata& metadata) : header_(header), metadata_(metadata) {}

  std::vector<std::int64_t> begin(const std::string& path) override {
    const Extents& e = header_.extents;
    return begin_hdf5(path, {{"links", {e[3], e[2], e[1], e[0], 4, 3, 3}, header_.precision}});
  }

  void finish(const std::string& path, const GaugeNumbers& numbers) override {
    Hdf5Attributes links{"links", metadata_};
    links.texts["creator"] = creator();
    links.texts["date"] = creation_date();
    for (const auto& [name, value] : numbers.checksums) links.texts[name] = value;
    links.texts.erase("plaquette");
    links.texts.erase("link_trace");
    links.numbers = {{"plaquette", numbers.plaquette}, {"link_trace", numbers.link_trace.real()}};
    finish_hdf5(path, {links});
  }

 private:
  GaugeHeader header_;
  Metadata metadata_;
};

}  // namespace

GaugeHeader read_hdf5_gauge_header(const std::string& path, const std::string& name, const Hdf5Catalogue& file) {
  const Hdf5Dataset& dataset = file.dataset(name, "; `dataset` says which of them holds the links");
  const std::vector<std::int64_t>& shape = dataset.shape;
  if (shape.size() != 7 || shape[4] != 4 || shape[5] != 3 || shape[6] != 3)
    throw FileError(path + ": shape of dataset " + name, "(T, Z, Y, X, 4, 3, 3)", shape_text(shape));
  GaugeHeader header;
  header.path = path;
  header.format = GaugeFormat::hdf5;
  header.datasets = {name};
  header.precision = dataset.precision;
  for (std::size_t mu = 0; mu < 4; ++mu) header.extents[mu] = int(std::min<std::int64_t>(shape[3 - mu], 1 << 30));
  require_usable_extents(path, header.extents);
  header.big_endian = false;  // Hdf5SiteReader turns the others round
  header.hdf5 = {std::make_shared<Hdf5Dataset>(dataset)};
  header.fields = dataset.attributes;
  for (const char* name : {"suma", "sumb", "plaquette"})
    if (dataset.attributes.count(name)) header.checksums[name] = dataset.attributes.at(name);
  const bool fits_both = shape[0] == 4 && header.checksums.empty();
  if (fits_both && std::all_of(shape.begin(), shape.begin() + 4, [](std::int64_t extent) { return extent == 4; }))
    throw FileError(path + ": shape of dataset " + name + " without suma or plaquette", "one that fits a single order",
                    shape_text(shape) +
                        ", which fits U[T, Z, Y, X, mu, 3, 3] and PyQUDA's U[mu, T, Z, Y, X, 3, 3]; "
                        "staghorn.write_gauge(path, array, order=\"lex\") or order=\"pyquda\" in Python says which");
  if (fits_both)
    header.warnings.push_back("shape " + shape_text(shape) +
                              " is read as U[T, Z, Y, X, mu, 3, 3], and fits PyQUDA's U[mu, T, Z, Y, X, 3, 3] too");
  if (!header.checksums.count("plaquette"))
    header.warnings.push_back("dataset " + name + " has no attribute plaquette to compare with");
  return header;
}

std::unique_ptr<GaugeFrame> hdf5_frame(const GaugeHeader& header, const Metadata& metadata) {
  return std::make_unique<Hdf5Frame>(header, metadata);
}

}  // namespace staghorn
