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
      "convert", "staghorn convert IN OUT [--format milc|nersc|ildg|scidac|hdf5|npy|openqcd|kyu|pyquda] [options]",
      "Reads a gauge configuration, verifies it, and writes it with every checksum and header value of\n"
      "the new format. Links are copied as they are: converting back gives the same links.\n"};
  syntax.options.add(options_of(
      "Options",
      {{"in", "IN", "the file to read (any format)", {}, OptionRow::required},
       {"out", "OUT", "the file to write", {}, OptionRow::required},
       {"format", "FORMAT",
        "milc | nersc | ildg | scidac | hdf5 | npy | openqcd | kyu | pyquda (default: what the name OUT ends in, as "
        ".nersc or .h5)"},
       {"kyu", "XxYxZxT", "IN is a file of KYU, without a header: its lattice"},
       {"lattice", "XxYxZxT", "the lattice of IN, where it is LIME with nothing but the numbers of ILDG"},
       {"dataset", "NAME", "of IN in HDF5: the dataset that holds the links (default: links)"},
       {"precision", "fp32|fp64", "of the stored numbers (default: as in IN; fp64 for npy, openqcd, kyu)"},
       {"rows", "2|3", "rows stored per link, NERSC only (default: as in IN, else 3)"},
       {"reunitarize", "", "project the links onto SU(3) before writing"},
       {"no-verify", "", "read IN though its checksums are absent or wrong"},
       {"no-probe", "", "read HDF5 at once; else a child meets the file first, as HDF5 may crash on a damaged one"},
       compress_option(),
       {"force", "", "replace OUT if it exists"},
       {"quiet", "", "print nothing but errors"}}));
  syntax.positional.add("in", 1).add("out", 1);
  return syntax;
}

}  // namespace

int run_convert(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out) {
  const std::optional<OptionValues> values = parse_options(communicator, convert_syntax(), arguments, out);
  if (!values) return exit_certified;
  const std::string in = values->text("in"), target = values->text("out");
  const bool force = values->is_on("force");
  const GaugeFormat format = gauge_format_of(*values, target);
  Replacing how(force);
  how.compress = compression(*values, format == GaugeFormat::hdf5 || format == GaugeFormat::pyquda);
  std::optional<Precision> precision;
  if (values->count("precision"))
    precision = parse_value("precision", [&] { return parse_precision(values->text("precision")); });

  std::map<std::string, std::string> metadata;
  set_stored_rows(*values, format, metadata);

  ClaimedNames names(communicator);
  names.claim(target, force);
  const GaugeHeader header = stored_header(communicator, *values, in);
  if (!precision)
    precision = format == GaugeFormat::milc ? header.precision : usual_precision(format, header.precision);
  LinkField links(cut_lattice(communicator, header.extents));
  const GaugeChecks checks = read_gauge(communicator, header, links, !values->is_on("no-verify"));
  if (values->is_on("reunitarize")) {
    require_su3(in, check_unitarity(communicator, links), true);
    reunitarize(links);
  }
  metadata.insert(header.fields.begin(), header.fields.end());
  write_gauge(communicator, target, format, *precision, links, metadata, how);
  if (values->is_on("quiet")) return exit_certified;
  out << in << " (" << to_string(header.format) << ") -> " << target << " (" << to_string(format) << ", "
      << to_string(*precision) << "), " << to_string(header.extents) << "\n";
  for (const std::string& text : unverified_checksums(checks.checksums)) out << "UNVERIFIED: " << text << "\n";
  return exit_certified;
}

}  // namespace staghorn
