// Gauge configurations in SciDAC and ILDG files: big-endian 3x3 matrices, four links a site.
//
// ILDG is SciDAC's record with two more in front of the data (ildg-format, ildg-data-lfn) and another name for the
// data. [ILDG Binary File Format, rev. 1.1, 2005]
#include "halo/watch/error.hpp"
#include "lattice_io/files/lime.hpp"
#include "lattice_io/files/scidac.hpp"
#include "lattice_io/gauge/gauge_format.hpp"

namespace staghorn {

namespace {

const std::string xml_start = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";

std::string tagged(const std::string& tag, const std::string& value) {
  return "<" + tag + ">" + value + "</" + tag + ">";
}

class ScidacFrame : public GaugeFrame {
 public:
  ScidacFrame(const GaugeHeader& header, const Metadata& metadata)
      : header_(header), metadata_(metadata), data_bytes_(volume(header.extents) * bytes_per_site(header)) {}

  std::int64_t begin(const std::string& path) override {
    const bool ildg = header_.format == GaugeFormat::ildg;
    std::string text = lime_record("scidac-private-file-xml", private_file_xml(), LimePlace::first) +
                       lime_record("scidac-file-xml", description("scidac-file-xml"), LimePlace::last) +
                       lime_record("scidac-private-record-xml", private_record_xml(), LimePlace::first) +
                       lime_record("scidac-record-xml", description("scidac-record-xml"), LimePlace::middle);
    if (ildg)
      text += lime_record("ildg-format", ildg_format(), LimePlace::middle) +
              lime_record("ildg-data-lfn", value_or(metadata_, "ildg-data-lfn", "lfn://unknown"), LimePlace::middle);
    text += lime_record_header(ildg ? "ildg-binary-data" : "scidac-binary-data", data_bytes_, LimePlace::middle);
    PosixFile file = PosixFile::open_to_write(path);
    file.write_text(0, text);
    file.flush_and_close();
    data_offset_ = std::int64_t(text.size());
    return data_offset_;
  }

  void finish(const std::string& path, const GaugeNumbers& numbers) override {
    const std::string checksum =
        xml_start + tagged("scidacChecksum", tagged("version", "1.0") + tagged("suma", numbers.checksums.at("suma")) +
                                                 tagged("sumb", numbers.checksums.at("sumb")));
    PosixFile file = PosixFile::open_to_write(path);
    file.write_text(data_offset_ + data_bytes_, std::string(std::size_t(lime_padding(data_bytes_)), '\0') +
                                                    lime_record("scidac-checksum", checksum, LimePlace::last));
    file.flush_and_close();
  }

 private:
  std::string private_file_xml() const {
    std::string dims;
    for (const int extent : header_.extents) dims += std::to_string(extent) + " ";
    return xml_start + tagged("scidacFile", tagged("version", "1.1") + tagged("spacetime", "4") + tagged("dims", dims) +
                                                tagged("volfmt", "0"));
  }

  std::string private_record_xml() const {
    const std::string letter = header_.precision == Precision::fp64 ? "D" : "F";
    return xml_start +
           tagged("scidacRecord",
                  tagged("version", "1.0") + tagged("date", creation_date()) + tagged("globaldata", "0") +
                      tagged("datatype", "QDP_" + letter + "3_ColorMatrix") + tagged("precision", letter) +
                      tagged("colors", "3") + tagged("typesize", std::to_string(bytes_per_site(header_) / 4)) +
                      tagged("datacount", "4"));
  }

  std::string description(const std::string& record) const {
    return value_or(metadata_, record, xml_start + tagged("title", "gauge configuration written by " + creator()));
  }

  std::string ildg_format() const {
    std::string lattice;
    for (int mu = 0; mu < 4; ++mu)
      lattice += tagged(std::string("l") + "xyzt"[mu], std::to_string(header_.extents[mu]));
    return xml_start +
           "<ildgFormat xmlns=\"http://www.lqcd.org/ildg\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
           "xsi:schemaLocation=\"http://www.lqcd.org/ildg/filefmt.xsd\">" +
           tagged("version", "1.0") + tagged("field", "su3gauge") +
           tagged("precision", header_.precision == Precision::fp64 ? "64" : "32") + lattice + "</ildgFormat>";
  }

  GaugeHeader header_;
  Metadata metadata_;
  std::int64_t data_bytes_, data_offset_ = 0;
};

}  // namespace

GaugeHeader read_lime_gauge_header(const PosixFile& file) {
  const ScidacFile scidac = read_scidac_file(file);
  const ScidacField& field = scidac.fields.front();
  GaugeHeader header;
  header.path = file.path();
  header.format = scidac.is_ildg ? GaugeFormat::ildg : GaugeFormat::scidac;
  header.extents = scidac.extents;
  header.precision = field.precision;
  header.data_offset = field.data_offset;
  header.fields = scidac.texts;
  if (field.datatype != "") header.fields["datatype"] = field.datatype;
  require_usable_extents(file.path(), header.extents);

  const std::string declared = (field.datatype == "" ? "a field" : field.datatype) + " of ";
  if (field.bytes_per_site != 0 && field.bytes_per_site != bytes_per_site(header))
    throw Error(file.path() + ": gauge configuration (typesize x datacount, " + to_string(field.precision) + ")",
                "four 3x3 matrices of " + std::to_string(bytes_per_site(header)) + " bytes a site",
                declared + std::to_string(field.bytes_per_site));
  if (field.data_bytes != volume(header.extents) * bytes_per_site(header))
    throw Error(
        file.path() + ": binary data of " + to_string(header.extents) + " sites, " + to_string(header.precision),
        std::to_string(volume(header.extents) * bytes_per_site(header)) + " bytes",
        std::to_string(field.data_bytes) + " bytes");
  header.checksums = field.checksums;
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
