// `staghorn generate`: a gauge configuration from nothing, the same bits on any process grid.
#include <algorithm>
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
#include "lattice_io/files/header_text.hpp"
#include "lattice_io/files/output_file.hpp"
#include "lattice_io/gauge/gauge_file.hpp"
#include "lattice_io/vectors/vector_file.hpp"
#include "solver/program/command_options.hpp"
#include "solver/program/commands.hpp"
#include "solver/report/gauge_summary.hpp"
#include "solver/report/provenance.hpp"
#include "solver/request/name_pattern.hpp"

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
      "nersc\n"
      "  staghorn generate --start quenched.nersc --beta 5.7 --sweeps 100 --save-every 10 --save-as 'q_{n:04}.h5'\n"};
  po::options_description options("Options");
  options.add_options()("lattice", po::value<std::vector<std::string>>()->multitoken()->value_name("X Y Z T"),
                        "extents, even (default: those of the file that --start names)")(
      "beta", po::value<double>()->value_name("B"), "6 / g^2; needed where there are sweeps")(
      "sweeps", po::value<int>()->value_name("N")->default_value(0), "heatbath sweeps; 0 writes the start itself")(
      "overrelaxation", po::value<int>()->value_name("K")->default_value(4), "microcanonical steps after each sweep")(
      "seed", po::value<std::uint64_t>()->value_name("S")->default_value(1), "of the random numbers")(
      "start", po::value<std::string>()->value_name("cold|hot|FILE")->default_value("hot"),
      "all links 1, each uniform in SU(3), or the links of a file, whose chain goes on")(
      "measure-every", po::value<int>()->value_name("K")->default_value(0),
      "print the plaquette every K sweeps; 0: only at the end")(
      "grid", po::value<std::string>()->value_name("x,y,z,t"),
      "process grid (default: the one with the least surface)")(
      "device", po::value<std::string>()->value_name("auto|cpu|cuda[:n]")->default_value("auto"),
      "where to compute; auto takes a GPU where there is one and the lattice is not cut")(
      "save-every", po::value<int>()->value_name("N")->default_value(0),
      "keep the links after every N sweeps of the chain, as --save-as says")(
      "save-as", po::value<std::string>()->value_name("PATTERN"),
      "names of these files: {n} is the number of sweeps, {n:04} with at least four digits")(
      "output", po::value<std::string>()->value_name("F"), "file to write at the end; required without --save-every")(
      "format", po::value<std::string>()->value_name("FORMAT"),
      "milc | nersc | ildg | scidac | hdf5 | npy | openqcd | kyu (default: what the name F ends in, as .nersc, else "
      "hdf5)")("precision", po::value<std::string>()->value_name("fp32|fp64"),
               "of the stored numbers (default: fp64 where the format has it)")(
      "rows", po::value<int>()->value_name("2|3"), "rows stored per link, NERSC only (default: 3)")(
      "force", po::bool_switch(), "replace F if it exists")("quiet", po::bool_switch(), "print nothing but errors");
  syntax.options.add(options);
  return syntax;
}

struct GenerateCommand {
  Extents extents{};
  std::optional<Extents> grid;
  HeatbathParameters heatbath;
  int first_sweep = 0, sweeps = 0, measure_every = 0, save_every = 0;
  bool force = false, quiet = false;
  std::string start, device;  // cold, hot, or the name of a file
  std::optional<std::string> output, save_as;
  std::map<std::string, std::string> metadata;  // what the options say about the file
  GaugeFormat format = GaugeFormat::hdf5;
  Precision precision = Precision::fp64;

  bool from_file() const { return start != "cold" && start != "hot"; }
  int last_sweep() const { return first_sweep + sweeps; }
  bool saves(int n) const { return save_every > 0 && n % save_every == 0; }
};

// PATTERN with the number of sweeps in place of {n} or {n:04}. Throws UsageError where it has none, or two.
std::string name_of(const std::string& pattern, int n) {
  return parse_value("save-as", [&] {
    if (pattern_fields(pattern) != std::vector<std::string>{"n"})
      throw Error("save-as", "a name with {n}, or with {n:04} for four digits", "'" + pattern + "'");
    return fill_pattern(pattern, {{"n", std::to_string(n)}});
  });
}

GenerateCommand read_command(const OptionValues& values) {
  const auto text = [&](const char* name) { return values[name].as<std::string>(); };
  GenerateCommand command;
  command.start = text("start");
  if (values.count("lattice")) command.extents = extents_of(values, "lattice");
  if (!values.count("lattice") && !command.from_file())
    throw UsageError("--lattice is required, unless --start names a file");
  if (values.count("grid")) command.grid = extents_of(values, "grid");
  command.sweeps = values["sweeps"].as<int>();
  command.measure_every = values["measure-every"].as<int>();
  command.heatbath.overrelaxation_steps = values["overrelaxation"].as<int>();
  command.save_every = values["save-every"].as<int>();
  for (const auto& [name, value] : {std::pair{"--sweeps", command.sweeps},
                                    {"--measure-every", command.measure_every},
                                    {"--overrelaxation", command.heatbath.overrelaxation_steps},
                                    {"--save-every", command.save_every}})
    if (value < 0) throw UsageError(name, "a number of at least 0", value);
  command.save_as = optional_text(values, "save-as");
  if ((command.save_every > 0) != command.save_as.has_value())
    throw UsageError("--save-every and --save-as belong together");
  if (command.save_as) name_of(*command.save_as, 0);
  command.heatbath.seed = values["seed"].as<std::uint64_t>();
  if (values.count("beta")) command.heatbath.beta = values["beta"].as<double>();
  if (command.sweeps > 0 && !values.count("beta")) throw UsageError("--beta is needed where --sweeps is not 0");
  command.output = optional_text(values, "output");
  if (!command.output && !command.save_as) throw UsageError("--output is required, or --save-every and --save-as");
  if (command.output == command.start || (command.save_as && command.output == command.save_as))
    throw UsageError("--output", "a name of its own", "'" + *command.output + "'");
  command.device = text("device");
  command.format = gauge_format_of(values, command.output.value_or(command.save_as.value_or("")), GaugeFormat::hdf5);
  command.precision = usual_precision(command.format, Precision::fp64);
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

const LinkField& on_host(const LinkField& links) { return links; }

// Writes the links as they are after n sweeps.
void save(std::ostream& out, const Communicator& communicator, const GenerateCommand& command, const std::string& path,
          const LinkField& links, int n) {
  std::map<std::string, std::string> metadata{{"creator", "staghorn " + version()},
                                              {"start", command.start},
                                              {"sweeps", std::to_string(n)},
                                              {"overrelaxation", std::to_string(command.heatbath.overrelaxation_steps)},
                                              {"seed", std::to_string(command.heatbath.seed)},
                                              {"SEQUENCE_NUMBER", std::to_string(n)}};
  if (command.sweeps > 0) metadata["BETA"] = shortest_digits(command.heatbath.beta);
  metadata.insert(command.metadata.begin(), command.metadata.end());
  write_gauge(communicator, path, command.format, command.precision, links, metadata, command.force);
  out << "written to " << path << " (" << to_string(command.format) << ", " << to_string(command.precision) << ")\n";
}

// The sweeps, on links of the CPU (LinkField) or the GPU (CudaLinkField).
template <class Field>
void run_chain(std::ostream& out, const Communicator& communicator, const GenerateCommand& command, Field& links) {
  const Stopwatch sweeping;
  for (int sweep = command.first_sweep; sweep < command.last_sweep(); ++sweep) {
    if (command.measure_every > 0 && sweep % command.measure_every == 0)
      print_plaquette(out, plaquette(communicator, links), sweep);
    heatbath_sweep(communicator, links, command.heatbath, std::uint32_t(sweep));
    if (command.saves(sweep + 1))
      save(out, communicator, command, name_of(*command.save_as, sweep + 1), on_host(links), sweep + 1);
  }
  print_plaquette(out, plaquette(communicator, links), command.last_sweep());
  if (command.sweeps > 0) {
    char line[128];
    std::snprintf(line, sizeof line, "%d sweeps in %.2f s, %.4g s each", command.sweeps, sweeping.seconds(),
                  sweeping.seconds() / command.sweeps);
    out << line << std::endl;
  }
  if (command.output) save(out, communicator, command, *command.output, on_host(links), command.last_sweep());
}

template <class Field>
void set_start(Field& links, const GenerateCommand& command) {
  if (command.start == "hot")
    set_hot(links, command.heatbath.seed);
  else
    set_cold(links);
}

// Chain and files. `header` is that of the file to start from, if there is one.
void make_links(std::ostream& out, const Communicator& communicator, const GenerateCommand& command,
                const std::optional<GaugeHeader>& header) {
  const Lattice lattice = cut_lattice(communicator, command.extents, command.grid);
  int cuda_device = -1;
  const bool on_cpu = communicator.size() > 1 || header;  // the heatbath on a GPU knows no cut, and makes its start
  communicator.agree([&] {
    if (header && command.device.starts_with("cuda"))
      throw Error("device", "auto or cpu for a chain that starts from a file", "'" + command.device + "'");
    cuda_device = choose_device(command.device == "auto" && on_cpu ? "cpu" : command.device, 0);
  });
  out << "staghorn " << version() << ": " << describe_device(cuda_device) << ", " << to_string(command.extents) << "\n";
  if (cuda_device >= 0) {
    cuda::select_device(cuda_device);
    CudaLinkField links(lattice);
    set_start(links, command);
    return run_chain(out, communicator, command, links);
  }
  LinkField links(lattice);
  if (header) {
    read_gauge(communicator, *header, links);
    require_su3(command.start, check_unitarity(communicator, links), false);
    if (header->precision != Precision::fp64) reunitarize(links);  // their rounding would stay with the chain
    out << "goes on from " << command.start << ", sweep " << command.first_sweep << "\n";
  } else {
    set_start(links, command);
  }
  run_chain(out, communicator, command, links);
}

// Sweeps that the chain of a file has behind it, as Staghorn and NERSC's archives write them; 0 where it says nothing.
int sweeps_behind(const GaugeHeader& header) {
  for (const char* name : {"sweeps", "SEQUENCE_NUMBER"})
    if (header.fields.count(name))
      return int(whole_number(header.path + ": " + name, header.fields.at(name), 0, 1'000'000'000));
  return 0;
}

}  // namespace

int run_generate(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out) {
  const std::optional<OptionValues> values = parse_options(communicator, generate_syntax(), arguments, out);
  if (!values) return exit_certified;
  GenerateCommand command = read_command(*values);
  std::ostream nowhere(nullptr);
  std::ostream& messages = command.quiet ? nowhere : out;

  const double beta = command.heatbath.beta;
  if (!std::isfinite(beta) || beta < 0) throw Error("beta", "a number of at least 0", beta);
  std::optional<GaugeHeader> header;
  if (command.from_file()) {
    header = read_gauge_header(communicator, command.start);
    if (values->count("lattice") && command.extents != header->extents)
      throw Error(command.start, "a lattice of " + to_string(command.extents), to_string(header->extents));
    command.extents = header->extents;
    command.first_sweep = sweeps_behind(*header);
  }
  for (int n = command.first_sweep + 1; n <= command.last_sweep(); ++n)
    if (command.saves(n)) check_writable(communicator, name_of(*command.save_as, n), command.force);
  if (command.output) check_writable(communicator, *command.output, command.force);
  make_links(messages, communicator, command, header);
  return exit_certified;
}

}  // namespace staghorn
