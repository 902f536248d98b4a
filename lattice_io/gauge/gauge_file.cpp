// Names of the gauge formats, and which of them a file is: told by its first bytes. A new one:
// docs/development/how-to-add-a-file-format.md.
#include "lattice_io/gauge/gauge_file.hpp"

#include <algorithm>

#include "halo/named_choice.hpp"
#include "halo/watch/error.hpp"
#include "lattice_io/files/byte_order.hpp"
#include "lattice_io/files/checksums.hpp"
#include "lattice_io/files/foreign_files.hpp"
#include "lattice_io/files/lime.hpp"
#include "lattice_io/files/npy.hpp"
#include "lattice_io/gauge/gauge_format.hpp"
#include "lattice_io/hdf5/catalogue.hpp"

namespace staghorn {

namespace {

constexpr NamedChoice<GaugeFormat, 9> formats{"gauge format",
                                              {{{GaugeFormat::milc, "milc"},
                                                {GaugeFormat::nersc, "nersc"},
                                                {GaugeFormat::ildg, "ildg"},
                                                {GaugeFormat::scidac, "scidac"},
                                                {GaugeFormat::hdf5, "hdf5"},
                                                {GaugeFormat::npy, "npy"},
                                                {GaugeFormat::openqcd, "openqcd"},
                                                {GaugeFormat::kyu, "kyu"},
                                                {GaugeFormat::pyquda, "pyquda"}}}};

constexpr const char* known_formats = "a gauge configuration: MILC v5, NERSC, ILDG, SciDAC, HDF5, NumPy or openQCD";

GaugeHeader parse_header(const std::string& path, const std::optional<std::string>& dataset,
                         const std::optional<Extents>& lattice, const Hdf5Catalogue& hdf5) {
  const PosixFile file = PosixFile::open_to_read(path);
  refuse_foreign_content(file, known_formats);
  const std::string start = file.read_text(0, std::min<std::int64_t>(file.size(), 64));
  if (start.size() < 16)
    throw FileError(path, "a gauge configuration",
                    "a file of " + std::to_string(start.size()) + " bytes, " + first_bytes(file));
  const auto* bytes = reinterpret_cast<const std::byte*>(start.data());
  const auto big = load_word<std::uint32_t>(bytes, true), little = load_word<std::uint32_t>(bytes, false);

  if (hdf5.is_hdf5()) {
    const bool has_own = !dataset && hdf5.contains("links");
    if (!has_own)
      if (auto header = find_pyquda_links(path, dataset.value_or(pyquda_group), hdf5)) return std::move(*header);
    return read_hdf5_gauge_header(path, dataset.value_or("links"), hdf5);
  }
  if (dataset) throw Error("dataset", "an HDF5 file, in which it is the name of the links", path);
  if (start.starts_with(npy_magic)) return read_npy_gauge_header(file);
  if (big == lime_magic) return read_lime_gauge_header(file, lattice);
  if (start.substr(std::min(start.find_first_not_of(" \t\r\n"), start.size())).starts_with("BEGIN_HEADER"))
    return read_nersc_header(file);
  if (big == 20103 || little == 20103) return read_milc_header(file);
  for (const std::uint32_t older : {53546u, 59354u})
    if (big == older || little == older)
      throw FileError(path, "MILC version 5 (magic number 20103)",
                      "an older MILC format (" + std::to_string(older) + ")");
  if (auto header = find_openqcd_header(file)) return std::move(*header);
  throw FileError(path, known_formats, first_bytes(file));
}

}  // namespace

std::string to_string(GaugeFormat format) { return formats.name(format); }
GaugeFormat parse_gauge_format(const std::string& text) { return formats.parse(text); }

std::optional<GaugeFormat> gauge_format_by_name(const std::string& path) {
  for (const NamedValue<GaugeFormat>& format : formats.values)
    if (ends_in(path, std::string(".") + format.name)) return format.value;
  if (ends_in(path, ".h5")) return GaugeFormat::hdf5;
  if (ends_in(path, ".lime")) return GaugeFormat::scidac;
  require_honest_name(path, "`format` hdf5");
  return std::nullopt;
}

Precision usual_precision(GaugeFormat format, Precision links) {
  if (format == GaugeFormat::milc) return Precision::fp32;
  if (format == GaugeFormat::npy || format == GaugeFormat::openqcd || format == GaugeFormat::kyu)
    return Precision::fp64;
  return links;
}

GaugeHeader read_gauge_header(const Communicator& communicator, const std::string& path,
                              const std::optional<std::string>& dataset, const std::optional<Extents>& lattice) {
  GaugeHeader header;
  std::vector<std::string> names = {"links", pyquda_group};
  if (dataset) names = {*dataset};
  const Hdf5Catalogue hdf5 = read_hdf5_catalogue(communicator, path, names);
  communicator.agree([&] {
    header = parse_header(path, dataset, lattice, hdf5);
    if (lattice && header.extents != *lattice)
      throw FileError(path, "a lattice of " + to_string(*lattice), to_string(header.extents));
  });
  return header;
}

}  // namespace staghorn
