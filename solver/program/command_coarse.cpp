// `staghorn coarse`: the vectors of a basis of blocks.
#include <ostream>

#include "halo/watchdog.hpp"
#include "lattice_io/files/output_file.hpp"
#include "lattice_io/files/text_file.hpp"
#include "lattice_io/gauge/gauge_format.hpp"
#include "solver/program/command_line/command_options.hpp"
#include "solver/program/commands.hpp"
#include "solver/program/progress.hpp"
#include "solver/program/ranks/chosen_ranks.hpp"
#include "solver/program/solve_summary.hpp"
#include "solver/request/words/formatted.hpp"
#include "solver/session/low_modes/coarse_basis.hpp"
#include "solver/session/session.hpp"

namespace staghorn {

namespace po = boost::program_options;

namespace {

CommandSyntax coarse_syntax() {
  CommandSyntax syntax{
      "coarse", "staghorn coarse --gauge FILE [--vectors N] [options]      (mpirun -n N in front for more ranks)",
      "Finds vectors near the null space of K = -D^2 on even sites, for solves in a basis of blocks: each is noise "
      "after\n"
      "so many iterations of Conjugate Gradient. One file serves all masses. The coarse matrix is made from it for\n"
      "each session, so that bad vectors cost iterations, and never an answer.\n"
      "With --precision fp32 the search moves half of the bytes.\n"
      "Exit status: 0 done, 1 error, 2 usage, 4 ended by the watchdog.\n",
      "\nExamples:\n"
      "  staghorn coarse --gauge l8888.milc --action hisq --output c.h5 --report c.json\n"
      "  staghorn solve --gauge l8888.milc --action hisq --mass 0.001 --coarse c.h5 --output x.h5\n"
      "  staghorn solve --gauge l8888.milc --action hisq --mass 0.001 --coarse c.h5 --solver deflated --output "
      "x.h5\n"};
  po::options_description problem("Problem"), on_lattice("Operator"), machine("Machine"), files("Files");
  const CoarseRequest defaults;
  add_options(
      problem,
      {gauge_option(),
       {"vectors", "N", "how many vectors, which are the columns on each block", option_text(defaults.vectors)},
       {"block", "x,y,z,t",
        "sites of a block in each direction, even; they divide the part of each rank (default: 4, or 6 or 2 where 4 "
        "does not divide the lattice)"},
       {"iterations", "N", "of Conjugate Gradient for each vector", option_text(defaults.iterations)},
       {"seed", "SEED", "of the noise", "1"}});
  add_options(on_lattice, OptionGroup::lattice_operator, options_of_solves);
  add_options(machine, OptionGroup::machine, options_of_solves);
  add_options(syntax.experiments, OptionGroup::experiments);
  add_options(files, {{"output", "C", "write the vectors: HDF5, on even sites"},
                      {"storage", "fp64|fp32|fp16", "of the vectors in the file", "fp32"},
                      {"report", "F.json", "write the report"},
                      {"force", "", "replace output files that exist"},
                      {"quiet", "", "print nothing but errors"}});
  syntax.options.add(problem).add(on_lattice).add(machine).add(watchdog_options()).add(files);
  return syntax;
}

struct CoarseCommand {
  std::string gauge;  // "": links from --fat and --naik
  SolveOptions options;
  CoarseRequest request;
  std::optional<EigenpairOutput> output;
  std::optional<std::string> report;
  bool force = false, quiet = false;
};

CoarseCommand read_coarse_command(const OptionValues& values) {
  CoarseCommand command;
  set_session_options(values, command.options);
  const QuarkAction& quarks = command.options.session.quarks;
  command.gauge = gauge_of(values, quarks, "coarse");
  command.request.vectors = values.number<int>("vectors");
  command.request.iterations = values.number<long>("iterations");
  command.request.seed = values.number<std::uint64_t>("seed");
  if (const std::optional<std::string> block = values.optional_text("block"))
    command.request.block = parse_value("block", [&] { return parse_extents(*block); });
  command.report = values.optional_text("report");
  command.force = values.is_on("force");
  command.quiet = values.is_on("quiet");
  const Precision storage = parse_value("storage", [&] { return parse_kernel_precision(values.text("storage")); });
  const std::optional<std::string> output = values.optional_text("output");
  if (output)
    command.output = EigenpairOutput{*output, EigenvectorFormat::hdf5, storage, command.force};
  else if (!values.is_default("storage"))
    throw UsageError("--storage belongs to --output");
  if (output && output == command.report)
    throw UsageError("--output and --report", "two different files", "'" + *output + "' for both");
  require_not_read({output, command.report}, {command.gauge, quarks.fat, quarks.naik});
  return command;
}

void print_coarse(std::ostream& out, const CoarseReport& report) {
  const CoarseSummary& space = report.space;
  out << format(
      "done: %d vectors near the null space of K = -D^2 on even sites, %ld iterations each (%ld operator calls)\n",
      report.request.vectors, report.request.iterations, report.calls);
  out << format("  (v, K v) from %.3g to %.3g\n", report.values.front(), report.values.back());
  out << format("  %lld blocks of %s, %d blocks in a row of E(0), whose eigenvalues go from %.4g to %.4g; %ld pairs\n",
                static_cast<long long>(space.blocks), to_string(space.block).c_str(), space.neighbours, space.smallest,
                space.largest, space.pairs);
  const auto seconds = [&](const char* phase) { return seconds_of(report.seconds, phase); };
  out << format("  read %.2f s, setup %.2f s, vectors %.2f s, certify %.2f s, blocks %.2f s\n", seconds("read"),
                seconds("setup"), seconds("vectors"), seconds("certify"), seconds("space"));
  out << std::flush;
}

int find_on(const Communicator& ranks, const CoarseCommand& command, std::ostream& messages) {
  Session session(ranks, command.gauge, command.options.session);
  print_session(messages, session);
  if (command.output) require_writable(*command.output, session.lattice());
  LiveLine line(messages);
  FoundCoarse found = find_coarse(session.resident(), command.request, [&](const CgProgress& at) {
    if (line.is_due()) line.show(format("iteration %6ld of a batch of vectors", at.iteration));
  });
  line.clear();
  CoarseReport& report = found.report;
  const auto write = [&](const Replacing& how) {
    EigenpairOutput output = *command.output;
    output.with = how.with;
    write_coarse(session.resident(), found, output);
  };
  write_with_report(
      ranks, command.output ? std::optional(command.output->path) : std::nullopt, write, command.report,
      [&](const Error*) {
        print_coarse(messages, report);
        return to_json(report);
      },
      command.force);
  if (command.output) messages << "  vectors in " << command.output->path << "\n";
  if (command.report) messages << "  report in " << *command.report << "\n";
  return exit_certified;
}

}  // namespace

int run_coarse(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out) {
  const std::optional<OptionValues> values = parse_options(communicator, coarse_syntax(), arguments, out);
  if (!values) return exit_certified;
  CoarseCommand command = read_coarse_command(*values);
  const Watchdog watchdog(communicator, watchdog_limit(*values), exit_stalled);
  std::ostream nowhere(nullptr);
  std::ostream& messages = command.quiet ? nowhere : out;
  check_coarse_request(command.request);
  if (command.output) creation_date();  // throws Error where SOURCE_DATE_EPOCH cannot be read
  return on_chosen_ranks(
      communicator, command.gauge, command.options.session,
      [&](ClaimedNames& names) {
        if (command.output) names.claim(command.output->path, command.force);
        if (command.report) names.claim(*command.report, command.force, WrittenBy::rank_0);
      },
      [&](const Communicator& ranks) { return find_on(ranks, command, messages); });
}

}  // namespace staghorn
