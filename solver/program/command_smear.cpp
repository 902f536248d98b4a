// `staghorn smear`: the fat and Naik links of improved staggered quarks, from thin links.
#include <cmath>
#include <cstdio>
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

namespace staghorn {

namespace po = boost::program_options;

namespace {

CommandSyntax smear_syntax() {
  CommandSyntax syntax{
      "smear",
      "staghorn smear --gauge F --action asqtad|hisq --fat F --naik L [options]",
      "Makes the links of improved staggered quarks from thin links: fat links of one step, and long (Naik) links of\n"
      "three steps, each with its coefficient. The same request gives the same bits on any number of ranks.\n",
      po::options_description(),
      {},
      "\nExample:\n"
      "  staghorn smear --gauge thin.lat --action hisq --fat fat.l8 --naik long.l8 --format scidac \\\n"
      "                 --phases-in-links milc\n"};
  po::options_description options("Options");
  options.add_options()("gauge", po::value<std::string>()->value_name("FILE")->required(),
                        "thin links: MILC, NERSC, ILDG, SciDAC, HDF5, npy or openQCD")(
      "action", po::value<std::string>()->value_name("asqtad|hisq")->required(), "which improved links to make")(
      "u0", po::value<double>()->value_name("U")->default_value(1.0, "1"), "tadpole factor of asqtad")(
      "naik-epsilon", po::value<double>()->value_name("E")->default_value(0.0, "0"),
      "correction of HISQ's one-link and Naik terms for heavy quarks")(
      "unitarize", po::value<std::string>()->value_name("u3|su3")->default_value("u3"),
      "group onto which HISQ's first level is projected: u3 as in MILC, su3 as in Chroma")(
      "no-verify", po::bool_switch(), "read links whose checksums are absent or wrong")(
      "reunitarize", po::bool_switch(), "project the thin links onto SU(3) first (files hold them to 1e-7 only)")(
      "fat", po::value<std::string>()->value_name("F")->required(), "file to write the fat links to")(
      "naik,long", po::value<std::string>()->value_name("L")->required(), "file to write the Naik links to")(
      "format", po::value<std::string>()->value_name("scidac|hdf5"),
      "of both files (default: what the name F ends in, as .scidac, else hdf5)")(
      "dataset", po::value<std::string>()->value_name("NAME"),
      "of thin links in HDF5: the dataset that holds them (default: links)")(
      "precision", po::value<std::string>()->value_name("fp32|fp64")->default_value("fp64"), "of the stored numbers")(
      "phases-in-links", po::value<std::string>()->value_name("none|cps|milc")->default_value("none"),
      "multiply staggered phases and boundary signs into the links written (milc: as MILC's own files)")(
      "boundary",
      po::value<std::string>()->value_name("px,py,pz,pt")->default_value("periodic,periodic,periodic,antiperiodic"),
      "whose signs are multiplied in")(
      "device", po::value<std::string>()->value_name("auto|cpu|cuda[:n]")->default_value("auto"),
      "where to make the links; auto takes a GPU where every rank has one with memory enough")(
      "force", po::bool_switch(), "replace files that exist")("quiet", po::bool_switch(), "print nothing but errors");
  syntax.options.add(options);
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
  const auto text = [&](const char* name) { return values[name].as<std::string>(); };
  SmearCommand command;
  command.gauge = text("gauge");
  command.action = text("action");
  command.fat = text("fat");
  command.naik = text("naik");
  command.device = text("device");
  command.u0 = values["u0"].as<double>();
  command.epsilon = values["naik-epsilon"].as<double>();
  if (command.action != "asqtad" && command.action != "hisq")
    throw UsageError("--action", "asqtad or hisq", "'" + command.action + "'");
  if (command.action == "asqtad" && !values["naik-epsilon"].defaulted())
    throw UsageError("--naik-epsilon belongs to --action hisq");
  if (command.action == "asqtad" && !values["unitarize"].defaulted())
    throw UsageError("--unitarize belongs to --action hisq");
  if (command.action == "hisq" && !values["u0"].defaulted()) throw UsageError("--u0 belongs to --action asqtad");
  if (!(command.u0 > 0 && std::isfinite(command.u0))) throw UsageError("--u0", "a number above 0", command.u0);
  if (!std::isfinite(command.epsilon)) throw UsageError("--naik-epsilon", "a finite number", command.epsilon);
  if (text("unitarize") != "u3" && text("unitarize") != "su3")
    throw UsageError("--unitarize", "u3 or su3", "'" + text("unitarize") + "'");
  command.unitarize = text("unitarize") == "u3" ? Unitarize::u3 : Unitarize::su3;
  command.format = gauge_format_of(values, command.fat, GaugeFormat::hdf5);
  if (!values.count("format") && gauge_format_of(values, command.naik, GaugeFormat::hdf5) != command.format)
    throw UsageError("--fat and --naik", "names that ask for one format",
                     "'" + command.fat + "', '" + command.naik + "'");
  command.dataset = optional_text(values, "dataset");
  if (command.format != GaugeFormat::hdf5 && command.format != GaugeFormat::scidac)
    throw UsageError("--format", "scidac or hdf5, which hold links outside SU(3)",
                     "'" + to_string(command.format) + "'");
  command.precision = parse_value("precision", [&] { return parse_precision(text("precision")); });
  command.phases = parse_value("phases-in-links", [&] { return parse_link_phases(text("phases-in-links")); });
  command.boundary = parse_value("boundary", [&] { return parse_boundary(text("boundary")); });
  command.reunitarize = values["reunitarize"].as<bool>();
  command.no_verify = values["no-verify"].as<bool>();
  command.force = values["force"].as<bool>();
  command.quiet = values["quiet"].as<bool>();
  if (command.fat == command.naik)
    throw UsageError("--fat and --naik", "two different files", "'" + command.fat + "' for both");
  for (const std::string& written : {command.fat, command.naik})
    if (written == command.gauge)
      throw UsageError("'" + written + "' would be read and replaced: choose another name to write to");
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
    lines["unitarize"] = command.unitarize == Unitarize::u3 ? "u3" : "su3";
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
  char line[160];
  std::snprintf(line, sizeof line, "%s links of %s in %.2f s on %s\n", command.action.c_str(),
                to_string(header.extents).c_str(), smearing.seconds(),
                describe_device(where == MemorySpace::cuda ? cuda_device : -1).c_str());
  messages << line;
  if (command.action == "hisq") {
    std::snprintf(line, sizeof line, "first level: smallest singular value %.6g, smallest |det| %.6g\n",
                  links.smallest_singular, links.smallest_determinant);
    messages << line;
  }

  write_improved_links(communicator, command.fat, command.naik, std::move(links),
                       {command.format, command.precision, command.phases, command.boundary,
                        description(command, checks), command.force});
  messages << "written to " << command.fat << " and " << command.naik << " (" << to_string(command.format) << ", "
           << to_string(command.precision) << ")\n";
  return exit_certified;
}

}  // namespace staghorn
