// `staghorn smear`: the fat and Naik links of improved staggered quarks, from thin links.
#include <cmath>
#include <ostream>

#include "dirac/gauge/gauge_observables.hpp"
#include "dirac/gauge/improved_links.hpp"
#include "dirac/gauge/link_phases.hpp"
#include "halo/cuda/device_scope.hpp"
#include "halo/cut_lattice.hpp"
#include "halo/device_choice.hpp"
#include "halo/watch/stopwatch.hpp"
#include "lattice_io/files/header_text.hpp"
#include "lattice_io/files/output_file.hpp"
#include "lattice_io/gauge/improved_files.hpp"
#include "solver/program/command_line/command_options.hpp"
#include "solver/program/commands.hpp"
#include "solver/report/gauge_summary.hpp"
#include "solver/request/words/formatted.hpp"

namespace staghorn {

namespace po = boost::program_options;

namespace {

CommandSyntax smear_syntax() {
  CommandSyntax syntax{
      "smear", "staghorn smear --gauge F --action asqtad|hisq --fat F --naik L [options]",
      "Makes the links of improved staggered quarks from thin links: fat links of one step, and long (Naik) links of\n"
      "three steps, each with its coefficient. The same request gives the same bits on any number of ranks.\n",
      "\nExample:\n"
      "  staghorn smear --gauge thin.lat --action hisq --fat fat.l8 --naik long.l8 --format scidac \\\n"
      "                 --phases-in-links milc\n"};
  syntax.options.add(options_of(
      "Options",
      {{"gauge", "FILE", "thin links: MILC, NERSC, ILDG, SciDAC, HDF5, npy or openQCD", {}, OptionRow::required},
       {"action", "asqtad|hisq", "which improved links to make", {}, OptionRow::required},
       {"u0", "U", "tadpole factor of asqtad", "1"},
       {"naik-epsilon", "E", "correction of HISQ's one-link and Naik terms for heavy quarks", "0"},
       {"unitarize", "u3|su3", "group onto which HISQ's first level is projected: u3 as in MILC, su3 as in Chroma",
        "u3"},
       {"no-verify", "", "read links whose checksums are absent or wrong"},
       {"no-probe", "", "read HDF5 at once; else a child meets the file first, as HDF5 may crash on a damaged one"},
       {"reunitarize", "", "project the thin links onto SU(3) first (files hold them to 1e-7 only)"},
       {"fat", "F", "file to write the fat links to", {}, OptionRow::required},
       {"naik,long", "L", "file to write the Naik links to", {}, OptionRow::required},
       {"format", "scidac|hdf5", "of both files (default: what the name F ends in, as .scidac, else hdf5)"},
       {"dataset", "NAME", "of thin links in HDF5: the dataset that holds them (default: links)"},
       {"precision", "fp32|fp64", "of the stored numbers", "fp64"},
       {"phases-in-links", "none|cps|milc",
        "multiply staggered phases and boundary signs into the links written (milc: as MILC's own files)", "none"},
       {"boundary", "px,py,pz,pt", "whose signs are multiplied in", "periodic,periodic,periodic,antiperiodic"},
       {"device", "auto|cpu|cuda[:n]",
        "where to make the links; auto takes a GPU where every rank has one with memory enough", "auto"},
       {"force", "", "replace files that exist"},
       {"quiet", "", "print nothing but errors"}}));
  return syntax;
}

struct SmearCommand {
  std::string gauge, action, fat, naik, device;
  std::optional<std::string> dataset;
  double u0 = 1, epsilon = 0;
  Unitarize unitarize = Unitarize::u3;
  GaugeFormat format = GaugeFormat::hdf5;
  Precision precision = Precision::fp64;
  LinkPhases phases = LinkPhases::none;
  Boundary boundary;
  bool no_verify = false, reunitarize = false, force = false, quiet = false;
};

SmearCommand read_smear_command(const OptionValues& values) {
  const auto text = [&](const char* name) { return values.text(name); };
  SmearCommand command;
  command.gauge = text("gauge");
  command.action = text("action");
  command.fat = text("fat");
  command.naik = text("naik");
  command.device = text("device");
  command.u0 = values.number<double>("u0");
  command.epsilon = values.number<double>("naik-epsilon");
  if (command.action != "asqtad" && command.action != "hisq")
    throw UsageError("--action", "asqtad or hisq", "'" + command.action + "'");
  if (command.action == "asqtad" && !values.is_default("naik-epsilon"))
    throw UsageError("--naik-epsilon belongs to --action hisq");
  if (command.action == "asqtad" && !values.is_default("unitarize"))
    throw UsageError("--unitarize belongs to --action hisq");
  if (command.action == "hisq" && !values.is_default("u0")) throw UsageError("--u0 belongs to --action asqtad");
  if (!(command.u0 > 0 && std::isfinite(command.u0))) throw UsageError("--u0", "a number above 0", command.u0);
  if (!std::isfinite(command.epsilon)) throw UsageError("--naik-epsilon", "a finite number", command.epsilon);
  command.unitarize = parse_value("unitarize", [&] { return parse_unitarize(text("unitarize")); });
  command.format = gauge_format_of(values, command.fat, GaugeFormat::hdf5);
  if (!values.count("format") && gauge_format_of(values, command.naik, GaugeFormat::hdf5) != command.format)
    throw UsageError("--fat and --naik", "names that ask for one format",
                     "'" + command.fat + "', '" + command.naik + "'");
  command.dataset = values.optional_text("dataset");
  if (command.format != GaugeFormat::hdf5 && command.format != GaugeFormat::scidac)
    throw UsageError("--format", "scidac or hdf5, which hold links outside SU(3)",
                     "'" + to_string(command.format) + "'");
  command.precision = parse_value("precision", [&] { return parse_precision(text("precision")); });
  command.phases = parse_value("phases-in-links", [&] { return parse_link_phases(text("phases-in-links")); });
  command.boundary = parse_value("boundary", [&] { return parse_boundary(text("boundary")); });
  command.reunitarize = values.is_on("reunitarize");
  command.no_verify = values.is_on("no-verify");
  command.force = values.is_on("force");
  command.quiet = values.is_on("quiet");
  if (command.fat == command.naik)
    throw UsageError("--fat and --naik", "two different files", "'" + command.fat + "' for both");
  require_not_read({command.fat, command.naik}, {command.gauge});
  return command;
}

// What the files say of how their links were made. Plaquette and trace name the configuration.
std::map<std::string, std::string> description(const SmearCommand& command, const GaugeChecks& checks) {
  std::map<std::string, std::string> lines{{"action", command.action},
                                           {"thin_file", command.gauge},
                                           {"thin_plaquette", shortest_digits(checks.plaquette->all)},
                                           {"thin_link_trace", shortest_digits(checks.link_trace->real())}};
  if (command.reunitarize) lines["thin_reunitarized"] = "yes";
  if (command.action == "asqtad") lines["u0"] = shortest_digits(command.u0);
  if (command.action == "hisq") {
    lines["naik_epsilon"] = shortest_digits(command.epsilon);
    lines["unitarize"] = to_string(command.unitarize);
  }
  return lines;
}

}  // namespace

int run_smear(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out) {
  const std::optional<OptionValues> values = parse_options(communicator, smear_syntax(), arguments, out);
  if (!values) return exit_certified;
  const SmearCommand command = read_smear_command(*values);
  std::ostream nowhere(nullptr);
  std::ostream& messages = command.quiet ? nowhere : out;

  ClaimedNames names(communicator);
  for (const std::string& written : {command.fat, command.naik}) names.claim(written, command.force);
  const GaugeHeader header = read_gauge_header(communicator, command.gauge, command.dataset);
  const int rank_on_host = communicator.rank_on_host();
  int cuda_device = -1;
  communicator.agree([&] { cuda_device = choose_device(command.device, communicator, rank_on_host); });
  const cuda::DeviceScope scope(cuda_device);
  LinkField thin(cut_lattice(communicator, header.extents));
  GaugeChecks checks = read_gauge(communicator, header, thin, !command.no_verify);
  for (const std::string& text : unverified_checksums(checks.checksums)) messages << "UNVERIFIED: " << text << "\n";
  require_su3(command.gauge, check_unitarity(communicator, thin), true);
  if (command.reunitarize) reunitarize(thin);
  checks.plaquette = plaquette(communicator, thin);
  checks.link_trace = link_trace(communicator, thin);

  const MemorySpace where = space_for_links(communicator, thin.lattice(), cuda_device);
  if (where == MemorySpace::host && command.device.starts_with("cuda"))
    throw Error(ErrorKind::memory, "device", "a GPU of each rank with memory for its links, or auto or cpu",
                "'" + command.device + "', where too little is free");
  const Stopwatch smearing;
  ImprovedLinks links = command.action == "asqtad"
                            ? asqtad_links(communicator, thin, command.u0, where)
                            : hisq_links(communicator, thin, command.epsilon, command.unitarize, where);
  messages << format("%s links of %s in %.2f s on %s\n", command.action.c_str(), to_string(header.extents).c_str(),
                     smearing.seconds(), describe_device(where == MemorySpace::cuda ? cuda_device : -1).c_str());
  if (command.action == "hisq")
    messages << format("first level: smallest singular value %.6g, smallest |det| %.6g\n", links.smallest_singular,
                       links.smallest_determinant);

  write_improved_links(communicator, command.fat, command.naik, std::move(links),
                       {command.format, command.precision, command.phases, command.boundary,
                        description(command, checks), command.force});
  messages << "written to " << command.fat << " and " << command.naik << " (" << to_string(command.format) << ", "
           << to_string(command.precision) << ")\n";
  return exit_certified;
}

}  // namespace staghorn
