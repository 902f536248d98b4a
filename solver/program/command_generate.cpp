// `staghorn generate`: a gauge configuration from nothing, the same bits on any process grid.
#include <ostream>

#include "solver/chain/markov_chain.hpp"
#include "solver/program/command_line/command_options.hpp"
#include "solver/program/commands.hpp"
#include "solver/program/progress.hpp"

namespace staghorn {

namespace po = boost::program_options;

namespace {

CommandSyntax generate_syntax() {
  CommandSyntax syntax{
      "generate", "staghorn generate --lattice X Y Z T --beta B --sweeps N --seed S --output F [options]",
      "Makes a gauge configuration: a cold or hot start, then sweeps of quenched SU(3) heatbath (Wilson's plaquette\n"
      "action, periodic) with over-relaxation. The same request gives the same bits on any number of ranks, and on a\n"
      "GPU.\n",
      "\nExample:\n"
      "  staghorn generate --lattice 8 8 8 16 --beta 5.7 --sweeps 500 --seed 1 --output quenched.nersc --format "
      "nersc\n"
      "  staghorn generate --start quenched.nersc --beta 5.7 --sweeps 100 --save-every 10 --save-as 'q_{n:04}.h5'\n"};
  syntax.options.add(options_of(
      "Options",
      {{"lattice", "X Y Z T", "extents, even (default: those of the file that --start names)", {}, OptionRow::several},
       {"beta", "B", "6 / g^2; needed where there are sweeps"},
       {"sweeps", "N", "heatbath sweeps; 0 writes the start itself", "0"},
       {"overrelaxation", "K", "microcanonical steps after each sweep", "4"},
       {"seed", "S", "of the random numbers", "1"},
       {"start", "cold|hot|FILE", "all links 1, each uniform in SU(3), or the links of a file, whose chain goes on",
        "hot"},
       {"measure-every", "K", "print the plaquette every K sweeps; 0: only at the end", "0"},
       {"grid", "x,y,z,t", "process grid (default: the one with the least surface)"},
       {"device", "auto|cpu|cuda[:n]",
        "where to compute; auto takes a GPU where there is one and the lattice is not cut", "auto"},
       {"save-every", "N", "keep the links after every N sweeps of the chain, as --save-as says", "0"},
       {"save-as", "PATTERN", "names of these files: {n} is the number of sweeps, {n:04} with at least four digits"},
       {"output", "F", "file to write at the end; required without --save-every"},
       {"format", "FORMAT",
        "milc | nersc | ildg | scidac | hdf5 | npy | openqcd | kyu | pyquda (default: what the name F ends in, as "
        ".nersc, else hdf5)"},
       {"precision", "fp32|fp64", "of the stored numbers (default: fp64 where the format has it)"},
       {"rows", "2|3", "rows stored per link, NERSC only (default: 3)"},
       {"force", "", "replace F if it exists"},
       {"quiet", "", "print nothing but errors"}}));
  return syntax;
}

ChainRequest read_request(const OptionValues& values) {
  ChainRequest request;
  request.start = values.text("start");
  if (values.count("lattice")) request.extents = extents_of(values, "lattice");
  if (!values.count("lattice") && !request.from_file())
    throw UsageError("--lattice is required, unless --start names a file");
  if (values.count("grid")) request.grid = extents_of(values, "grid");
  request.sweeps = values.number<int>("sweeps");
  request.measure_every = values.number<int>("measure-every");
  request.heatbath.overrelaxation_steps = values.number<int>("overrelaxation");
  request.save_every = values.number<int>("save-every");
  request.save_as = values.optional_text("save-as");
  if ((request.save_every > 0) != request.save_as.has_value())
    throw UsageError("--save-every and --save-as belong together");
  request.heatbath.seed = values.number<std::uint64_t>("seed");
  if (values.count("beta")) request.heatbath.beta = values.number<double>("beta");
  if (request.sweeps > 0 && !values.count("beta")) throw UsageError("--beta is needed where --sweeps is not 0");
  request.output = values.optional_text("output");
  if (!request.output && !request.save_as) throw UsageError("--output is required, or --save-every and --save-as");
  request.device = values.text("device");
  request.format = gauge_format_of(values, request.output.value_or(request.save_as.value_or("")), GaugeFormat::hdf5);
  request.precision = usual_precision(request.format, Precision::fp64);
  if (values.count("precision"))
    request.precision = parse_value("precision", [&] { return parse_precision(values.text("precision")); });
  set_stored_rows(values, request.format, request.metadata);
  request.force = values.is_on("force");
  with_usage_errors([&] { check_chain(request); });
  return request;
}

}  // namespace

int run_generate(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out) {
  const std::optional<OptionValues> values = parse_options(communicator, generate_syntax(), arguments, out);
  if (!values) return exit_certified;
  std::ostream nowhere(nullptr);
  std::ostream& messages = values->is_on("quiet") ? nowhere : out;
  const ChainRequest request = read_request(*values);
  LiveLine line(messages);
  run_chain(communicator, request, messages, [&](int done) {
    if (done + 1 == request.sweeps)
      line.clear();
    else if (line.is_due())
      line.show("sweep " + std::to_string(done) + " of " + std::to_string(request.sweeps));
  });
  return exit_certified;
}

}  // namespace staghorn
