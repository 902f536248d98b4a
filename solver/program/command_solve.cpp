// `staghorn solve`: options to SolveRequest, sources, solve, files, certificate.
#include <omp.h>

#include <ostream>

#include "halo/watch/stopwatch.hpp"
#include "halo/watchdog.hpp"
#include "lattice_io/files/output_file.hpp"
#include "lattice_io/files/text_file.hpp"
#include "lattice_io/vectors/vector_file.hpp"
#include "solver/program/command_options.hpp"
#include "solver/program/commands.hpp"
#include "solver/program/progress.hpp"
#include "solver/program/solve_summary.hpp"
#include "solver/report/propagator_observables.hpp"
#include "solver/request/solve_checks.hpp"
#include "solver/request/sources.hpp"
#include "solver/session/session.hpp"

namespace staghorn {

namespace po = boost::program_options;

namespace {

CommandSyntax solve_syntax() {
  CommandSyntax syntax{
      "solve",
      "staghorn solve --gauge FILE --mass M [options]      (mpirun -n N in front for more ranks)",
      "Solves the staggered Dirac equation on a gauge configuration by even-odd Conjugate Gradient, checks the answer\n"
      "in double precision with uncompressed links, and writes solution and report.\n"
      "D a(x) = sum_mu eta_mu(x) [U_mu(x) a(x+mu) - U_mu(x-mu)^dagger a(x-mu)]; all quantities in lattice units.\n"
      "Exit status: 0 certified, 1 error, 2 usage, 3 not converged (solution and report are written),\n"
      "4 ended by the watchdog.\n",
      po::options_description(),
      {},
      "\nExamples:\n"
      "  staghorn solve --gauge l8888.milc --mass 0.05 --output x.h5 --report x.json\n"
      "  mpirun -n 4 staghorn solve --config run.ini --precision fp32 --links 12\n"};
  po::options_description problem("Problem"), solver("Solver"), files("Files");
  problem.add_options()("gauge", po::value<std::string>()->value_name("FILE")->required(),
                        "gauge configuration: MILC, NERSC, ILDG, SciDAC or HDF5, found from its content")(
      "mass", po::value<double>()->value_name("M")->required(), "lattice mass a m; > 0 for the full system")(
      "system", po::value<std::string>()->value_name("full|even|odd")->default_value("full"),
      "(2m + D) x = b on all sites, or (4m^2 - D^2) x = b on one parity, where b is projected")(
      "source", po::value<std::string>()->value_name("SOURCE")->default_value("point:0,0,0,0"),
      "point:x,y,z,t | corner-wall:t | even-wall:t | wall:t | z2:SEED | gaussian:SEED | file:F.h5")(
      "color", po::value<std::string>()->value_name("0|1|2|all")->default_value("all"),
      "colour of a point or wall source; all three give the pion correlator too")(
      "noise-vectors", po::value<int>()->value_name("N")->default_value(1),
      "right-hand sides drawn for a noise source; the chiral condensate is averaged over them")(
      "phases", po::value<std::string>()->value_name("cps|milc")->default_value("cps"),
      "staggered phases in which sources and solutions are understood")(
      "guess", po::value<std::string>()->value_name("F.h5"), "start from the /solution of this file");
  solver.add_options()("tolerance", po::value<double>()->value_name("TOL"),
                       "relative residual |b - M x| / |b| to reach (default: 1e-10 in fp64, 1e-5 in fp32)")(
      "max-iterations", po::value<long>()->value_name("N")->default_value(SolveRequest().max_iterations),
      "of Conjugate Gradient, for each right-hand side");
  files.add_options()("output", po::value<std::string>()->value_name("F.h5"),
                      "write the solution, dataset /solution of shape (n_rhs, T, Z, Y, X, 3)")(
      "report", po::value<std::string>()->value_name("F.json"), "write the report")(
      "force", po::bool_switch(), "replace output files that exist")("quiet", po::bool_switch(),
                                                                     "print nothing but errors");
  syntax.options.add(problem)
      .add(solver)
      .add(operator_options())
      .add(machine_options())
      .add(watchdog_options())
      .add(files);
  return syntax;
}

struct SolveCommand {
  std::string gauge;
  SessionOptions session;
  SolveRequest request;
  SourceSpec source;
  std::optional<int> color;
  int noise_vectors = 1;
  std::optional<std::string> guess, output, report;
  bool force = false, quiet = false;
};

std::optional<std::string> optional_text(const OptionValues& values, const char* name) {
  if (!values.count(name)) return std::nullopt;
  return values[name].as<std::string>();
}

SolveCommand read_command(const OptionValues& values) {
  const auto text = [&](const char* name) { return values[name].as<std::string>(); };
  SolveCommand command;
  command.gauge = text("gauge");
  command.session = session_options(values);
  command.request.mass = values["mass"].as<double>();
  command.request.system = parse_value("system", [&] { return parse_system(text("system")); });
  command.request.phases = parse_value("phases", [&] { return parse_phase_convention(text("phases")); });
  if (values.count("tolerance")) command.request.tolerance = values["tolerance"].as<double>();
  command.request.max_iterations = values["max-iterations"].as<long>();
  command.source = parse_value("source", [&] { return parse_source(text("source")); });
  command.color = parse_value("color", [&] { return parse_color(text("color")); });
  command.noise_vectors = values["noise-vectors"].as<int>();
  if (command.noise_vectors < 1) throw UsageError("--noise-vectors", "a number of at least 1", command.noise_vectors);
  command.session.expected_system = command.request.system;
  if (command.source.has_color() && !command.color) command.session.expected_rhs = 3;
  if (command.source.is_noise()) command.session.expected_rhs = command.noise_vectors;
  command.guess = optional_text(values, "guess");
  command.output = optional_text(values, "output");
  command.report = optional_text(values, "report");
  command.force = values["force"].as<bool>();
  command.quiet = values["quiet"].as<bool>();
  if (command.output && command.output == command.report)
    throw UsageError("--output and --report", "two different files", "'" + *command.output + "' for both");
  for (const auto& written : {command.output, command.report})
    if (written && (*written == command.gauge || written == command.guess || *written == command.source.path))
      throw UsageError("'" + *written + "' would be read and replaced: choose another name to write to");
  return command;
}

std::vector<VectorField> read_guess(const Session& session, const SolveCommand& command, std::size_t n_rhs) {
  if (!command.guess) return std::vector<VectorField>(n_rhs, VectorField(session.lattice()));
  std::vector<VectorField> guess = read_vectors(session.communicator(), *command.guess, "solution", session.lattice());
  if (guess.size() != n_rhs)
    throw Error(*command.guess, std::to_string(n_rhs) + " vectors, one for each source", guess.size());
  return guess;
}

// Correlator and condensate belong to solutions of the full system; a correlator needs all three source colours.
void add_observables(const Session& session, const SolveCommand& command, const SourceSet& sources,
                     std::span<const VectorField> solutions, SolveReport& report) {
  for (std::size_t i = 0; i < report.rhs.size(); ++i) report.rhs[i].color = sources.colors[i];
  if (command.request.system != System::full) return;
  if (command.source.has_color() && !command.color)
    report.pion_correlator = pion_correlator(session.communicator(), solutions);
  if (command.source.is_noise())
    report.condensate = estimate_condensate(session.communicator(), sources.fields, solutions);
}

// The report is written even where the solution could not be: it holds the history and the observables.
void write_results(const Session& session, const SolveCommand& command, std::span<const VectorField> solutions,
                   SolveReport& report) {
  const Stopwatch writing;
  std::optional<Error> failure;
  if (command.output) {
    try {
      write_vectors(session.communicator(), *command.output, "solution", solutions, Precision::fp64,
                    solution_attributes(report), command.force);
    } catch (const LocalError&) {
      throw;
    } catch (const Error& error) {
      failure = error;
      report.explanation +=
          (report.explanation.empty() ? "" : " ") + std::string("The solution was not written: ") + error.what();
    }
  }
  report.seconds["write"] = session.communicator().max(writing.seconds());
  if (command.report) write_text_file(session.communicator(), *command.report, to_json(report), command.force);
  if (failure) throw *failure;
}

}  // namespace

int run_solve(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out) {
  const std::optional<OptionValues> values = parse_options(communicator, solve_syntax(), arguments, out);
  if (!values) return exit_certified;
  const SolveCommand command = read_command(*values);
  const Watchdog watchdog(communicator, watchdog_limit(*values), exit_stalled);
  std::ostream nowhere(nullptr);
  std::ostream& messages = command.quiet ? nowhere : out;

  // Everything that can be refused is refused before anything is computed.
  check_request(command.request, command.session.precision);
  for (const auto& path : {command.output, command.report})
    if (path) check_writable(communicator, *path, command.force);

  Session session(communicator, command.gauge, command.session);
  print_machine(messages, session, omp_get_max_threads());
  print_gauge(messages, session);
  const SourceSet sources =
      make_sources(session.communicator(), session.lattice(), command.source, command.color, command.noise_vectors);
  std::vector<VectorField> solutions = read_guess(session, command, sources.fields.size());

  const double tolerance = tolerance_in_force(command.request, command.session.precision);
  const std::int64_t sites = session.lattice().global_volume() * std::int64_t(sources.fields.size());
  ProgressDisplay display(messages, standard_output_is_terminal(), tolerance, sites);
  SolveReport report = session.solve(command.request, sources.fields, solutions,
                                     [&](const CgProgress& progress) { display.update(progress); });
  display.finish();
  report.source = to_string(command.source);
  add_observables(session, command, sources, solutions, report);
  write_results(session, command, solutions, report);

  print_certificate(messages, report);
  if (command.output) messages << "  solution in " << *command.output << "\n";
  if (command.report) messages << "  report in " << *command.report << "\n";
  return report.outcome == Outcome::certified ? exit_certified : exit_not_converged;
}

}  // namespace staghorn
