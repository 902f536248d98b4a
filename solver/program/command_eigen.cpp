// `staghorn eigen`: the lowest eigenpairs of -D^2, certified.
#include <ostream>

#include "halo/watch/signal_watch.hpp"
#include "halo/watchdog.hpp"
#include "lattice_io/files/output_file.hpp"
#include "lattice_io/files/text_file.hpp"
#include "lattice_io/gauge/gauge_format.hpp"
#include "solver/checkpoint/checkpoint_file.hpp"
#include "solver/program/command_line/command_options.hpp"
#include "solver/program/commands.hpp"
#include "solver/program/progress.hpp"
#include "solver/program/ranks/chosen_ranks.hpp"
#include "solver/program/solve_summary.hpp"
#include "solver/request/words/formatted.hpp"
#include "solver/session/low_modes/find_eigenpairs.hpp"

namespace staghorn {

namespace po = boost::program_options;

namespace {

CommandSyntax eigen_syntax() {
  CommandSyntax syntax{
      "eigen", "staghorn eigen --gauge FILE --pairs K [options]      (mpirun -n N in front for more ranks)",
      "Finds the lowest eigenpairs of K = -D^2 on even sites by thick-restart Lanczos, checks each in "
      "double precision\n"
      "with uncompressed links, probes for pairs that are missing, and writes vectors and report.\n"
      "Range and degree of the polynomial are found by the program. All quantities in lattice units.\n"
      "With --precision fp32 the search takes half of the memory and less time, for --tolerance 1e-6.\n"
      "Exit status: 0 certified, 1 error, 2 usage, 3 not certified (vectors and report are written),\n"
      "4 ended by the watchdog, 5 ended by a signal with a checkpoint.\n",
      "\nExamples:\n"
      "  staghorn eigen --gauge l8888.milc --pairs 64 --output e.h5 --report e.json\n"
      "  mpirun -n 4 staghorn eigen --gauge l8888.milc --action hisq --pairs 256 --output e.h5\n"
      "  staghorn solve --gauge l8888.milc --mass 0.001 --eigenvectors e.h5 --output x.h5\n"};
  po::options_description problem("Problem"), on_lattice("Operator"), machine("Machine"), files("Files");
  const EigenRequest defaults;
  add_options(
      problem,
      {gauge_option(),
       {"pairs", "K", "how many eigenpairs, from the lowest; required"},
       {"tolerance", "TOL", "residual |K v - lambda v| of each pair to reach, over the largest eigenvalue of K",
        option_text(defaults.tolerance)},
       {"max-calls", "N", "the most applications of K, each of them two hops", option_text(defaults.max_calls)},
       {"seed", "SEED", "of the random start vector", "1"},
       {"checkpoint", "F", "keep the state of the search in this file (docs/checkpoints.md)"},
       {"checkpoint-every", "SECONDS", "between two checkpoints", option_text(defaults.checkpoint_every)},
       {"resume", "",
        "go on from --checkpoint, on any ranks, grid or device, with no bit changed; begin where there is none"}});
  add_options(on_lattice, OptionGroup::lattice_operator, options_of_solves);
  add_options(machine, OptionGroup::machine, options_of_solves);
  add_options(syntax.experiments, OptionGroup::experiments);
  add_options(files, {{"output", "E",
                       "write values and vectors: HDF5 on even sites, or MILC's SciDAC form where the name ends in "
                       ".scidac or .lime, packed (half of the bytes) where it ends in .packed.scidac or .packed.lime"},
                      {"storage", "fp64|fp32|fp16",
                       "of the vectors in the file; for deflated solves 16 bits are nearly as good", "fp64"},
                      compress_option(),
                      {"keep-checkpoint", "",
                       "keep the file of --checkpoint when all is certified and written, where it is removed else"},
                      {"report", "F.json", "write the report"},
                      {"force", "", "replace output files that exist"},
                      {"quiet", "", "print nothing but errors"}});
  syntax.options.add(problem).add(on_lattice).add(machine).add(watchdog_options()).add(files);
  return syntax;
}

struct EigenCommand {
  std::string gauge;  // "": links from --fat and --naik
  SolveOptions options;
  EigenRequest request;
  std::optional<EigenpairOutput> output;
  std::optional<std::string> report;
  bool force = false, quiet = false, keep_checkpoint = false;
};

EigenCommand read_eigen_command(const OptionValues& values) {
  EigenCommand command;
  set_session_options(values, command.options);
  const QuarkAction& quarks = command.options.session.quarks;
  command.gauge = gauge_of(values, quarks, "eigen");
  if (!values.count("pairs")) throw UsageError("--pairs is required. `staghorn eigen --help` explains the options.");
  command.request.pairs = values.number<int>("pairs");
  command.request.tolerance = values.number<double>("tolerance");
  command.request.max_calls = values.number<long>("max-calls");
  command.request.seed = values.number<std::uint64_t>("seed");
  command.request.checkpoint = values.optional_text("checkpoint");
  command.request.checkpoint_every = values.number<double>("checkpoint-every");
  command.request.resume = values.is_on("resume");
  command.report = values.optional_text("report");
  command.force = values.is_on("force");
  command.keep_checkpoint = values.is_on("keep-checkpoint");
  if (command.keep_checkpoint && !command.request.checkpoint)
    throw UsageError("--keep-checkpoint belongs to --checkpoint");
  command.quiet = values.is_on("quiet");
  const Precision storage = parse_value("storage", [&] { return parse_kernel_precision(values.text("storage")); });
  const std::optional<std::string> output = values.optional_text("output");
  if (output) {
    command.output = EigenpairOutput{*output, eigenvector_format_by_name(*output), storage, command.force};
    if (is_milc(command.output->format) && storage == Precision::fp16)
      throw UsageError("--storage", "fp64 or fp32 in MILC's form", to_string(storage));
    command.output->compress = compression(values, command.output->format == EigenvectorFormat::hdf5);
  } else if (!values.is_default("storage")) {
    throw UsageError("--storage belongs to --output");
  }
  if (output && output == command.report)
    throw UsageError("--output and --report", "two different files", "'" + *output + "' for both");
  if (command.request.checkpoint &&
      (command.request.checkpoint == output || command.request.checkpoint == command.report))
    throw UsageError("--checkpoint", "a file of its own", "'" + *command.request.checkpoint + "'");
  require_not_read({output, command.report, command.request.checkpoint}, {command.gauge, quarks.fat, quarks.naik});
  return command;
}

void print_eigenpairs(std::ostream& out, const EigenReport& report) {
  print_outcome(out, to_string(report.outcome), report.gauge.verified());
  out << format("  K v = lambda v, K = -D^2 on even sites,  %d pairs,  %s,  tolerance %.3g of the largest eigenvalue\n",
                report.request.pairs, to_string(report.options.boundary).c_str(), report.request.tolerance);
  out << format("  largest |K v - lambda v| %.3e (limit %.3e), largest |V^+ V - 1| %.1e, in fp64, plain path\n",
                report.certified_residual, report.request.tolerance * report.largest_eigenvalue, report.orthogonality);
  if (report.probes > 0)
    out << format("  probe for missing pairs: nothing seen below %.10g; %d found and added before\n",
                  report.lowest_of_probe, report.found_missing);
  out << format("  spectrum from %.10g to %.10g (+- %.1g)\n", report.values.empty() ? 0 : report.values[0],
                report.largest_eigenvalue, report.largest_residual);
  const std::size_t n = report.values.size(), shown = n > 8 ? 4 : n;
  for (std::size_t i = 0; i < n; ++i) {
    if (i == shown && i + 2 < n) {
      out << "    ...\n";
      i = n - 2;
    }
    out << format("    lambda %4zu  %.14g   residual %.2e\n", i, report.values[i], report.residuals[i]);
  }
  out << format(
      "  %ld operator calls (%ld for the range), %d restarts of a basis of %d, blocks of %d, polynomial of degree %d",
      report.calls, report.range_calls, report.restarts, report.basis, report.block, report.degree);
  out << format(" on %.4g ... %.4g\n", report.interval_from, report.interval_to);
  const auto seconds = [&](const char* phase) { return seconds_of(report.seconds, phase); };
  out << format("  read %.2f s, setup %.2f s, range %.2f s, search %.2f s, certify %.2f s\n", seconds("read"),
                seconds("setup"), seconds("range"), seconds("search"), seconds("certify"));
  if (report.checkpoint) print_checkpoint(out, *report.checkpoint, "operator calls");
  if (!report.explanation.empty()) out << "  " << report.explanation << "\n";
  out << std::flush;
}

// All names that the job writes to.
void claim_names(ClaimedNames& names, const EigenCommand& command) {
  if (command.output) names.claim(command.output->path, command.force);
  if (command.report) names.claim(*command.report, command.force, WrittenBy::rank_0);
  if (const auto& checkpoint = command.request.checkpoint)
    for (const std::string& path : {*checkpoint, previous_checkpoint(*checkpoint)}) names.claim(path, true);
}

// Everything after what is refused at once, on the ranks that take part.
int find_on(const Communicator& ranks, const EigenCommand& command, std::ostream& messages) {
  Session session(ranks, command.gauge, command.options.session);
  print_session(messages, session);
  if (command.output) require_writable(*command.output, session.lattice());
  LiveLine line(messages);
  FoundEigenpairs found = find_eigenpairs(session.resident(), command.request, [&](const EigenProgress& at) {
    if (line.is_due())
      line.show(
          format("restart %3d  %6ld operator calls  %4d of %d pairs", at.restarts, at.calls, at.converged, at.pairs));
  });
  line.clear();
  EigenReport& report = found.report;
  report.explanation = in_words_of_the_program(report.explanation);
  bool written = false;
  const auto write = [&](const Replacing& how) {
    EigenpairOutput output = *command.output;
    output.with = how.with;
    written = write_eigenpairs(session.resident(), found, output);
  };
  write_with_report(  // the report is written even where the vectors could not be
      ranks, command.output ? std::optional(command.output->path) : std::nullopt, write, command.report,
      [&](const Error* failure) {
        if (failure) add_failure(report.explanation, "The vectors were not written: ", *failure);
        print_eigenpairs(messages, report);
        return to_json(report);
      },
      command.force);
  if (written) messages << "  eigenpairs in " << command.output->path << "\n";
  if (command.report) messages << "  report in " << *command.report << "\n";
  if (report.outcome != EigenOutcome::certified) return exit_not_converged;
  if (command.request.checkpoint && !command.keep_checkpoint) remove_checkpoints(ranks, *command.request.checkpoint);
  return exit_certified;
}

}  // namespace

int run_eigen(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out) {
  const std::optional<OptionValues> values = parse_options(communicator, eigen_syntax(), arguments, out);
  if (!values) return exit_certified;
  EigenCommand command = read_eigen_command(*values);
  const Watchdog watchdog(communicator, watchdog_limit(*values), exit_stalled);
  std::ostream nowhere(nullptr);
  std::ostream& messages = command.quiet ? nowhere : out;
  check_eigen_request(command.request, command.options.session);
  if (command.output) creation_date();  // throws Error where SOURCE_DATE_EPOCH cannot be read
  std::optional<SignalWatch> signals;
  if (command.request.checkpoint) signals.emplace();
  return on_chosen_ranks(
      communicator, command.gauge, command.options.session, [&](ClaimedNames& names) { claim_names(names, command); },
      [&](const Communicator& ranks) { return find_on(ranks, command, messages); });
}

}  // namespace staghorn
