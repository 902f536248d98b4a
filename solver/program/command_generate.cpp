// `staghorn generate`: a gauge configuration from nothing, the same bits on any process grid.
#include <ostream>

#include "solver/chain/markov_chain.hpp"
#include "solver/program/command_line/command_options.hpp"
#include "solver/program/commands.hpp"

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
      "milc | nersc | ildg | scidac | hdf5 | npy | openqcd | kyu | pyquda (default: what the name F ends in, as "
      ".nersc, else hdf5)")("precision", po::value<std::string>()->value_name("fp32|fp64"),
                            "of the stored numbers (default: fp64 where the format has it)")(
      "rows", po::value<int>()->value_name("2|3"), "rows stored per link, NERSC only (default: 3)")(
      "force", po::bool_switch(), "replace F if it exists")("quiet", po::bool_switch(), "print nothing but errors");
  syntax.options.add(options);
  return syntax;
}

ChainRequest read_request(const OptionValues& values) {
  const auto text = [&](const char* name) { return values[name].as<std::string>(); };
  ChainRequest request;
  request.start = text("start");
  if (values.count("lattice")) request.extents = extents_of(values, "lattice");
  if (!values.count("lattice") && !request.from_file())
    throw UsageError("--lattice is required, unless --start names a file");
  if (values.count("grid")) request.grid = extents_of(values, "grid");
  request.sweeps = values["sweeps"].as<int>();
  request.measure_every = values["measure-every"].as<int>();
  request.heatbath.overrelaxation_steps = values["overrelaxation"].as<int>();
  request.save_every = values["save-every"].as<int>();
  request.save_as = optional_text(values, "save-as");
  if ((request.save_every > 0) != request.save_as.has_value())
    throw UsageError("--save-every and --save-as belong together");
  request.heatbath.seed = values["seed"].as<std::uint64_t>();
  if (values.count("beta")) request.heatbath.beta = values["beta"].as<double>();
  if (request.sweeps > 0 && !values.count("beta")) throw UsageError("--beta is needed where --sweeps is not 0");
  request.output = optional_text(values, "output");
  if (!request.output && !request.save_as) throw UsageError("--output is required, or --save-every and --save-as");
  request.device = text("device");
  request.format = gauge_format_of(values, request.output.value_or(request.save_as.value_or("")), GaugeFormat::hdf5);
  request.precision = usual_precision(request.format, Precision::fp64);
  if (values.count("precision"))
    request.precision = parse_value("precision", [&] { return parse_precision(text("precision")); });
  set_stored_rows(values, request.format, request.metadata);
  request.force = values["force"].as<bool>();
  try {
    check_chain(request);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
  return request;
}

}  // namespace

int run_generate(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out) {
  const std::optional<OptionValues> values = parse_options(communicator, generate_syntax(), arguments, out);
  if (!values) return exit_certified;
  std::ostream nowhere(nullptr);
  run_chain(communicator, read_request(*values), (*values)["quiet"].as<bool>() ? nowhere : out);
  return exit_certified;
}

}  // namespace staghorn
