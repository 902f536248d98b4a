// `staghorn convert`: one gauge format to another.
#include <ostream>

#include "dirac/gauge/gauge_observables.hpp"
#include "halo/cut_lattice.hpp"
#include "lattice_io/files/output_file.hpp"
#include "lattice_io/gauge/gauge_file.hpp"
#include "lattice_io/vectors/vector_file.hpp"
#include "solver/program/command_line/command_options.hpp"
#include "solver/program/commands.hpp"
#include "solver/report/gauge_summary.hpp"

namespace staghorn {

namespace po = boost::program_options;

namespace {

CommandSyntax convert_syntax() {
  CommandSyntax syntax{
      "convert",
      "staghorn convert IN OUT [--format milc|nersc|ildg|scidac|hdf5|npy|openqcd|kyu|pyquda] [options]",
      "Reads a gauge configuration, verifies it, and writes it with every checksum and header value of\n"
      "the new format. Links are copied as they are: converting back gives the same links.\n",
      po::options_description(),
      {},
      ""};
  po::options_description options("Options");
  options.add_options()("in", po::value<std::string>()->value_name("IN")->required(), "the file to read (any format)")(
      "out", po::value<std::string>()->value_name("OUT")->required(), "the file to write")(
      "format", po::value<std::string>()->value_name("FORMAT"),
      "milc | nersc | ildg | scidac | hdf5 | npy | openqcd | kyu | pyquda (default: what the name OUT ends in, as "
      ".nersc or .h5)")("kyu", po::value<std::string>()->value_name("XxYxZxT"),
                        "IN is a file of KYU, without a header: its lattice")(
      "lattice", po::value<std::string>()->value_name("XxYxZxT"),
      "the lattice of IN, where it is LIME with nothing but the numbers of ILDG")(
      "dataset", po::value<std::string>()->value_name("NAME"),
      "of IN in HDF5: the dataset that holds the links (default: links)")(
      "precision", po::value<std::string>()->value_name("fp32|fp64"),
      "of the stored numbers (default: as in IN; fp64 for npy, openqcd, kyu)")(
      "rows", po::value<int>()->value_name("2|3"), "rows stored per link, NERSC only (default: as in IN, else 3)")(
      "reunitarize", po::bool_switch(), "project the links onto SU(3) before writing")(
      "no-verify", po::bool_switch(), "read IN though its checksums are absent or wrong")(
      "force", po::bool_switch(), "replace OUT if it exists")("quiet", po::bool_switch(), "print nothing but errors");
  syntax.options.add(options);
  syntax.positional.add("in", 1).add("out", 1);
  return syntax;
}

}  // namespace

int run_convert(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out) {
  const std::optional<OptionValues> values = parse_options(communicator, convert_syntax(), arguments, out);
  if (!values) return exit_certified;
  const auto text = [&](const char* name) { return (*values)[name].as<std::string>(); };
  const auto given = [&](const char* name) { return (*values)[name].as<bool>(); };
  const GaugeFormat format = gauge_format_of(*values, text("out"));
  std::optional<Precision> precision;
  if (values->count("precision"))
    precision = parse_value("precision", [&] { return parse_precision(text("precision")); });

  std::map<std::string, std::string> rows;
  set_stored_rows(*values, format, rows);

  ClaimedNames names(communicator);
  names.claim(text("out"), given("force"));
  const GaugeHeader header = stored_header(communicator, *values, text("in"));
  if (!precision)
    precision = format == GaugeFormat::milc ? header.precision : usual_precision(format, header.precision);
  LinkField links(cut_lattice(communicator, header.extents));
  const GaugeChecks checks = read_gauge(communicator, header, links, !given("no-verify"));
  if (given("reunitarize")) {
    require_su3(text("in"), check_unitarity(communicator, links), true);
    reunitarize(links);
  }
  std::map<std::string, std::string> metadata = header.fields;
  for (const auto& [name, value] : rows) metadata[name] = value;
  write_gauge(communicator, text("out"), format, *precision, links, metadata, given("force"));
  if (!given("quiet"))
    out << text("in") << " (" << to_string(header.format) << ") -> " << text("out") << " (" << to_string(format) << ", "
        << to_string(*precision) << "), " << to_string(header.extents) << "\n";
  if (!given("quiet"))
    for (const std::string& text : unverified_checksums(checks.checksums)) out << "UNVERIFIED: " << text << "\n";
  return exit_certified;
}

}  // namespace staghorn
