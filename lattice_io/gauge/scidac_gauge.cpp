// Gauge configurations in SciDAC and ILDG files: big-endian 3x3 matrices, four links a site.
//
// ILDG is SciDAC's record with two more in front of the data (ildg-format, ildg-data-lfn) and another name for the
// data. [ILDG Binary File Format, rev. 1.1, 2005]
#include "halo/watch/error.hpp"
#include "lattice_io/content/xml_text.hpp"
#include "lattice_io/files/scidac.hpp"
#include "lattice_io/gauge/gauge_format.hpp"
#include "lattice_io/gauge/link_bytes.hpp"

namespace staghorn {

namespace {

class ScidacFrame : public GaugeFrame {
 public:
  ScidacFrame(const GaugeHeader& header, const Metadata& metadata) : file_{header.extents} {
    const bool ildg = header.format == GaugeFormat::ildg;
    file_.datatype = qdp_datatype("ColorMatrix", header.precision);
    file_.precision = header.precision;
    file_.typesize = bytes_per_site(header) / 4;
    file_.datacount = 4;
    file_.date = creation_date();
    const std::string title = xml_start + xml_tagged("title", "gauge configuration written by " + creator());
    file_.file_xml = value_or(metadata, "scidac-file-xml", title);
    file_.record_xml = value_or(metadata, "scidac-record-xml", title);
    if (!ildg) return;
    file_.records = {{"ildg-format", ildg_format(header)},
                     {"ildg-data-lfn", value_or(metadata, "ildg-data-lfn", "lfn://unknown")}};
    file_.data_type = "ildg-binary-data";
  }

  std::vector<std::int64_t> begin(const std::string& path) override {
    const std::string text = begin_scidac_file(file_);
    PosixFile file = PosixFile::open_to_write(path);
    file.write_text(0, text);
    file.flush_and_close();
    data_offset_ = std::int64_t(text.size());
    return {data_offset_};
  }

  void finish(const std::string& path, const GaugeNumbers& numbers) override {
    PosixFile file = PosixFile::open_to_write(path);
    file.write_text(data_offset_ + file_.data_bytes(), end_scidac_field(file_, numbers.checksums));
    file.flush_and_close();
  }

 private:
  static std::string ildg_format(const GaugeHeader& header) {
    std::string lattice;
    for (int mu = 0; mu < 4; ++mu)
      lattice += xml_tagged(std::string("l") + "xyzt"[mu], std::to_string(header.extents[mu]));
    return xml_start +
           "<ildgFormat xmlns=\"http://www.lqcd.org/ildg\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
           "xsi:schemaLocation=\"http://www.lqcd.org/ildg/filefmt.xsd\">" +
           xml_tagged("version", "1.0") + xml_tagged("field", "su3gauge") +
           xml_tagged("precision", header.precision == Precision::fp64 ? "64" : "32") + lattice + "</ildgFormat>";
  }

  NewScidacFile file_;
  std::int64_t data_offset_ = 0;
};

}  // namespace

GaugeHeader read_lime_gauge_header(const PosixFile& file, const std::optional<Extents>& lattice) {
  ScidacFile scidac = read_scidac_file(file, false, lattice.has_value());
  ScidacField& field = scidac.fields.front();
  if (!scidac.is_described) {
    scidac.is_ildg = true;
    scidac.extents = *lattice;
    field.precision = field.data_bytes == volume(*lattice) * 4 * 18 * 8 ? Precision::fp64 : Precision::fp32;
  }
  GaugeHeader header;
  header.path = file.path();
  header.format = scidac.is_ildg ? GaugeFormat::ildg : GaugeFormat::scidac;
  header.extents = scidac.extents;
  header.precision = field.precision;
  header.data_offset = field.volumes ? -1 : field.data_offset;
  header.volumes = field.volumes;
  header.fields = scidac.texts;
  if (field.datatype != "") header.fields["datatype"] = field.datatype;
  require_usable_extents(file.path(), header.extents);

  const std::string declared = (field.datatype == "" ? "a field" : field.datatype) + " of ";
  if (field.bytes_per_site != 0 && field.bytes_per_site != bytes_per_site(header))
    throw FileError(file.path() + ": gauge configuration (typesize x datacount, " + to_string(field.precision) + ")",
                    "four 3x3 matrices of " + std::to_string(bytes_per_site(header)) + " bytes a site",
                    declared + std::to_string(field.bytes_per_site));
  if (field.data_bytes != volume(header.extents) * bytes_per_site(header))
    throw FileError(
        file.path() + ": binary data of " + to_string(header.extents) + " sites, " + to_string(header.precision),
        std::to_string(volume(header.extents) * bytes_per_site(header)) + " bytes",
        std::to_string(field.data_bytes) + " bytes");
  header.checksums = field.checksums;
  header.warnings = scidac.warnings;
  if (!field.volumes) find_byte_order(file, header, "LIME has big-endian numbers");
  if (scidac.fields.size() > 1)
    header.warnings.push_back("the file holds " + std::to_string(scidac.fields.size()) + " fields; the first is used");
  if (scidac.trailing_bytes > 0)
    header.warnings.push_back(std::to_string(scidac.trailing_bytes) + " bytes follow the last LIME record");
  return header;
}

std::unique_ptr<GaugeFrame> scidac_frame(const GaugeHeader& header, const Metadata& metadata) {
  return std::make_unique<ScidacFrame>(header, metadata);
}

}  // namespace staghorn
