// `staghorn generate`: a gauge configuration from nothing, the same bits on any process grid.
#include <cmath>
#include <cstdio>
#include <ostream>

#include "dirac/gauge/cuda_heatbath.hpp"
#include "dirac/gauge/gauge_observables.hpp"
#include "dirac/gauge/heatbath.hpp"
#include "halo/cuda/cuda_device.hpp"
#include "halo/cut_lattice.hpp"
#include "halo/device_choice.hpp"
#include "halo/watch/stopwatch.hpp"
#include "lattice_io/files/output_file.hpp"
#include "lattice_io/gauge/gauge_file.hpp"
#include "lattice_io/vectors/vector_file.hpp"
#include "solver/program/command_options.hpp"
#include "solver/program/commands.hpp"
#include "solver/report/provenance.hpp"

namespace staghorn {

namespace po = boost::program_options;

namespace {

CommandSyntax generate_syntax() {
  CommandSyntax syntax{
      "generate",
      "staghorn generate --lattice X Y Z T --beta B --sweeps N --seed S --output F [options]",
      "Makes a gauge configuration: a cold or hot start, then sweeps of quenched SU(3) heatbath (Wilson's plaquette\n"
      "action, periodic) with over-relaxation. The same request gives the same bits on any number of ranks, and on a\n"
      "GPU.\n",
      po::options_description(),
      {},
      "\nExample:\n"
      "  staghorn generate --lattice 8 8 8 16 --beta 5.7 --sweeps 500 --seed 1 --output quenched.nersc --format "
      "nersc\n"};
  po::options_description options("Options");
  options.add_options()(
      "lattice", po::value<std::vector<std::string>>()->multitoken()->value_name("X Y Z T")->required(),
      "extents, even")("beta", po::value<double>()->value_name("B"), "6 / g^2; needed where there are sweeps")(
      "sweeps", po::value<int>()->value_name("N")->default_value(0), "heatbath sweeps; 0 writes the start itself")(
      "overrelaxation", po::value<int>()->value_name("K")->default_value(4), "microcanonical steps after each sweep")(
      "seed", po::value<std::uint64_t>()->value_name("S")->default_value(1), "of the random numbers")(
      "start", po::value<std::string>()->value_name("cold|hot")->default_value("hot"),
      "all links 1, or each uniform in SU(3)")("measure-every", po::value<int>()->value_name("K")->default_value(0),
                                               "print the plaquette every K sweeps; 0: only at the end")(
      "grid", po::value<std::string>()->value_name("x,y,z,t"),
      "process grid (default: the one with the least surface)")(
      "device", po::value<std::string>()->value_name("auto|cpu|cuda[:n]")->default_value("auto"),
      "where to compute; auto takes a GPU where there is one and the lattice is not cut")(
      "output", po::value<std::string>()->value_name("F")->required(), "file to write")(
      "format", po::value<std::string>()->value_name("FORMAT"),
      "milc | nersc | ildg | scidac | hdf5 (default: what the name F ends in, as .nersc, else hdf5)")(
      "precision", po::value<std::string>()->value_name("fp32|fp64"),
      "of the stored numbers (default: fp64 where the format has it)")("rows", po::value<int>()->value_name("2|3"),
                                                                       "rows stored per link, NERSC only (default: 3)")(
      "force", po::bool_switch(), "replace F if it exists")("quiet", po::bool_switch(), "print nothing but errors");
  syntax.options.add(options);
  return syntax;
}

struct GenerateCommand {
  Extents extents{};
  std::optional<Extents> grid;
  HeatbathParameters heatbath;
  int sweeps = 0, measure_every = 0;
  bool hot = true, force = false, quiet = false;
  std::string output, device;
  std::map<std::string, std::string> metadata;  // what the options say about the file
  GaugeFormat format = GaugeFormat::hdf5;
  Precision precision = Precision::fp64;
};

GenerateCommand read_command(const OptionValues& values) {
  const auto text = [&](const char* name) { return values[name].as<std::string>(); };
  GenerateCommand command;
  command.extents = extents_of(values, "lattice");
  if (values.count("grid")) command.grid = extents_of(values, "grid");
  command.sweeps = values["sweeps"].as<int>();
  command.measure_every = values["measure-every"].as<int>();
  command.heatbath.overrelaxation_steps = values["overrelaxation"].as<int>();
  if (command.sweeps < 0 || command.measure_every < 0 || command.heatbath.overrelaxation_steps < 0)
    throw UsageError("--sweeps, --measure-every and --overrelaxation must not be negative");
  command.heatbath.seed = values["seed"].as<std::uint64_t>();
  if (values.count("beta")) command.heatbath.beta = values["beta"].as<double>();
  if (command.sweeps > 0 && !values.count("beta")) throw UsageError("--beta is needed where --sweeps is not 0");
  if (text("start") != "cold" && text("start") != "hot")
    throw UsageError("--start", "cold or hot", "'" + text("start") + "'");
  command.hot = text("start") == "hot";
  command.output = text("output");
  command.device = text("device");
  command.format = gauge_format_of(values, command.output, GaugeFormat::hdf5);
  command.precision = command.format == GaugeFormat::milc ? Precision::fp32 : Precision::fp64;
  if (values.count("precision"))
    command.precision = parse_value("precision", [&] { return parse_precision(text("precision")); });
  set_stored_rows(values, command.format, command.metadata);
  command.force = values["force"].as<bool>();
  command.quiet = values["quiet"].as<bool>();
  return command;
}

void print_plaquette(std::ostream& out, const Plaquette& p, int sweep) {
  char line[128];
  std::snprintf(line, sizeof line, "sweep %6d  plaquette %.10f  (space %.10f, time %.10f)", sweep, p.all, p.space,
                p.time);
  out << line << std::endl;
}

// The start and the sweeps, on links of the CPU (LinkField) or the GPU (CudaLinkField).
template <class Field>
void run_chain(std::ostream& out, const Communicator& communicator, const GenerateCommand& command, Field& links) {
  if (command.hot)
    set_hot(links, command.heatbath.seed);
  else
    set_cold(links);
  const Stopwatch sweeping;
  for (int sweep = 0; sweep < command.sweeps; ++sweep) {
    if (command.measure_every > 0 && sweep % command.measure_every == 0)
      print_plaquette(out, plaquette(communicator, links), sweep);
    heatbath_sweep(communicator, links, command.heatbath, std::uint32_t(sweep));
  }
  print_plaquette(out, plaquette(communicator, links), command.sweeps);
  if (command.sweeps == 0) return;
  char line[128];
  std::snprintf(line, sizeof line, "%d sweeps in %.2f s, %.4g s each", command.sweeps, sweeping.seconds(),
                sweeping.seconds() / command.sweeps);
  out << line << std::endl;
}

LinkField make_links(std::ostream& out, const Communicator& communicator, const GenerateCommand& command) {
  const Lattice lattice = cut_lattice(communicator, command.extents, command.grid);
  int cuda_device = -1;
  const bool alone = communicator.size() == 1;  // the heatbath on a GPU knows no cut
  communicator.agree(
      [&] { cuda_device = choose_device(command.device == "auto" && !alone ? "cpu" : command.device, 0); });
  out << "staghorn " << version() << ": " << describe_device(cuda_device) << ", " << to_string(command.extents) << "\n";
  if (cuda_device >= 0) {
    cuda::select_device(cuda_device);
    CudaLinkField links(lattice);
    run_chain(out, communicator, command, links);
    return on_host(links);
  }
  LinkField links(lattice);
  run_chain(out, communicator, command, links);
  return links;
}

}  // namespace

int run_generate(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out) {
  const std::optional<OptionValues> values = parse_options(communicator, generate_syntax(), arguments, out);
  if (!values) return exit_certified;
  const GenerateCommand command = read_command(*values);
  std::ostream nowhere(nullptr);
  std::ostream& messages = command.quiet ? nowhere : out;

  const double beta = command.heatbath.beta;
  if (!std::isfinite(beta) || beta < 0) throw Error("beta", "a number of at least 0", beta);
  check_writable(communicator, command.output, command.force);
  const LinkField links = make_links(messages, communicator, command);

  char beta_text[32];
  std::snprintf(beta_text, sizeof beta_text, "%.10g", beta);
  std::map<std::string, std::string> metadata{{"creator", "staghorn " + version()},
                                              {"start", command.hot ? "hot" : "cold"},
                                              {"sweeps", std::to_string(command.sweeps)},
                                              {"overrelaxation", std::to_string(command.heatbath.overrelaxation_steps)},
                                              {"seed", std::to_string(command.heatbath.seed)},
                                              {"SEQUENCE_NUMBER", std::to_string(command.sweeps)}};
  if (command.sweeps > 0) metadata["BETA"] = beta_text;
  metadata.insert(command.metadata.begin(), command.metadata.end());
  write_gauge(communicator, command.output, command.format, command.precision, links, metadata, command.force);
  messages << "written to " << command.output << " (" << to_string(command.format) << ", "
           << to_string(command.precision) << ")\n";
  return exit_certified;
}

}  // namespace staghorn
