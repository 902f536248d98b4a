// `staghorn solve`: options to SolveRequest, sources, solve, files, certificate.
#include <algorithm>
#include <functional>
#include <iostream>
#include <ostream>
#include <sstream>

#include "dirac/fields/vector_shape.hpp"
#include "halo/watch/signal_watch.hpp"
#include "halo/watch/stopwatch.hpp"
#include "halo/watchdog.hpp"
#include "lattice_io/files/output_file.hpp"
#include "lattice_io/files/text_file.hpp"
#include "lattice_io/gauge/gauge_format.hpp"
#include "lattice_io/vectors/vector_file.hpp"
#include "solver/checkpoint/checkpoint_file.hpp"
#include "solver/observables/observable_table.hpp"
#include "solver/program/command_line/command_options.hpp"
#include "solver/program/commands.hpp"
#include "solver/program/progress.hpp"
#include "solver/program/ranks/chosen_ranks.hpp"
#include "solver/program/solve_summary.hpp"
#include "solver/request/name_pattern.hpp"
#include "solver/request/solve_checks.hpp"
#include "solver/search/search_keeper.hpp"
#include "solver/session/campaign/campaign.hpp"
#include "solver/session/campaign/gauge_list.hpp"
#include "solver/session/groups/group_session.hpp"
#include "solver/session/many/solve_many.hpp"
#include "solver/session/solve_sources.hpp"
#include "solver/session/source_operators.hpp"

namespace staghorn {

namespace po = boost::program_options;

namespace {

CommandSyntax solve_syntax() {
  CommandSyntax syntax{
      "solve", "staghorn solve --gauge FILE --mass M [options]      (mpirun -n N in front for more ranks)",
      "Solves the staggered Dirac equation on a gauge configuration by even-odd Conjugate Gradient, checks the answer\n"
      "in double precision with uncompressed links, and writes solution and report.\n"
      "D a(x) = sum_mu eta_mu(x) [U_mu(x) a(x+mu) - U_mu(x-mu)^dagger a(x-mu)]; all quantities in lattice units.\n"
      "Exit status: 0 certified, 1 error, 2 usage, 3 not converged (solution and report are written),\n"
      "4 ended by the watchdog, 5 ended by a signal with a checkpoint.\n",
      "\nExamples:\n"
      "  staghorn solve --gauge l8888.milc --mass 0.05 --output x.h5 --report x.json\n"
      "  mpirun -n 4 staghorn solve --config run.ini --precision fp32 --links 12\n"
      "  staghorn solve --gauge l8888.milc --action hisq --mass 0.05 --sloppy fp16\n"
      "  staghorn solve --gauge l8888.milc --masses 0.01,0.02,0.05,0.1 --output x.h5\n"
      "  staghorn solve --gauge 'q_*.h5' --masses 0.05,0.1 --sources 'wall:0; z2:7' --output 'x_{gauge}.h5' "
      "--report x.json\n"
      "  staghorn solve --fat fat.l8 --naik long.l8 --mass 0.1 --phases milc --source file:src.l8 --output x.scidac\n"};
  po::options_description problem("Problem"), solver("Solver"), on_lattice("Operator"), machine("Machine"),
      files("Files");
  add_options(problem, {gauge_option("; several as 'q_*.h5', 'a.h5;b.h5' or @LIST")});
  add_options(problem, OptionGroup::problem);
  add_options(problem,
              {{"guess", "F",
                "start from the /solution of this HDF5 file, or from the vectors of a SciDAC, npy or FNAL file"}});
  add_options(solver, OptionGroup::solver);
  add_options(on_lattice, OptionGroup::lattice_operator);
  add_options(machine, OptionGroup::machine);
  add_options(machine, {{"split", "N",
                         "N groups of ranks side by side, each with a copy of the links: they share the sources, or "
                         "several configurations; same bits, one output",
                         "1"}});
  add_options(syntax.experiments, OptionGroup::experiments);
  add_options(
      files,
      {{"output", "F",
        "write the solution: dataset /solution of shape (n_rhs, T, Z, Y, X, 3) in HDF5, or n_rhs vectors a site in "
        "SciDAC; {gauge}, {n}, {mass} and {source} in F stand for stem and number of the configuration, mass and "
        "source"},
       {"output-format", "hdf5|scidac|npy|fnal",
        "of the solution (default: what its name ends in, as .scidac, .npy or .fnal, else hdf5); fnal rounds to fp32"},
       {"report", "F.json",
        "write the report; - prints it, and nothing else; of several configurations also the record of what is done, "
        "or "
        "with {gauge} or {n} a report for each, so that several jobs share them"},
       {"results", "F.h5", "write correlators and condensates of all configurations, masses and sources in HDF5"},
       compress_option(),
       {"keep-checkpoint", "",
        "keep the file of --checkpoint when all is certified and written, where it is removed else"},
       {"stop-at-failure", "", "end at the first configuration that is not certified"},
       {"force", "", "replace output files that exist"},
       {"quiet", "", "print nothing but errors"}});
  syntax.options.add(problem).add(solver).add(on_lattice).add(machine).add(watchdog_options()).add(files);
  return syntax;
}

struct SolveCommand {
  std::string gauge;  // "": links from --fat and --naik
  SolveOptions options;
  std::optional<std::string> guess, output, report, results;
  VectorFormat output_format = VectorFormat::hdf5;
  int compress = 0;               // level of gzip
  bool report_to_output = false;  // --report -
  bool force = false, quiet = false, stop_at_failure = false, keep_checkpoint = false;
  bool is_campaign = false;  // several configurations, or what only a campaign writes
  int split = 1;             // groups of ranks
  bool is_streamed() const { return options.many.asked() || split > 1; }  // solutions come one by one
};

// What groups of ranks cannot share.
void require_splittable(const OptionValues& values) {
  for (const char* option : {"guess", "rational"})
    if (values.count(option))
      throw UsageError(std::string("--split"), std::string("none with --") + option + ", whose solves are one piece",
                       values.text("split"));
  if (values.optional_text("shares").value_or("").starts_with("auto"))
    throw UsageError("--split", "none with --shares auto, which may leave ranks out", values.text("split"));
}

SolveCommand read_solve_command(const Communicator& communicator, const OptionValues& values) {
  SolveCommand command;
  set_options(values, command.options);
  const std::size_t ways = values.count("mass") + values.count("masses") + values.count("rational");
  if (ways != 1)
    throw UsageError(ways > 1 ? "--mass, --masses and --rational exclude each other"
                              : "--mass is required, or --masses or --rational. `staghorn solve --help` explains the "
                                "options.");
  if (!values.count("mass") && values.count("guess"))
    throw UsageError("--guess belongs to --mass: several masses start from zero");
  const QuarkAction& quarks = command.options.session.quarks;
  command.gauge = gauge_of(values, quarks, "solve");
  const bool shifts_at_source =
      command.options.many.list ? std::ranges::any_of(read_list(communicator, *command.options.many.list),
                                                      [](const ListWord& word) { return source_has_shifts(word.text); })
                                : have_shifts(command.options.source.spec.operators);
  if (!command.options.request.naik_epsilons.empty() || need_thin_links(command.options.request) || shifts_at_source)
    command.options.session.keep_thin_links = true;
  command.guess = values.optional_text("guess");
  const ManySources& many = command.options.many;
  if (many.list && !values.is_default("source"))
    throw UsageError("--sources, which names all of them", "no --source beside it", "both");
  command.split = values.number<int>("split");
  if (command.split < 1 || communicator.size() % command.split != 0)
    throw UsageError(
        "--split",
        "a number of groups that divides the ranks, of which there are " + std::to_string(communicator.size()),
        command.split);
  command.output = values.optional_text("output");
  command.results = values.optional_text("results");
  command.stop_at_failure = values.is_on("stop-at-failure");
  command.keep_checkpoint = values.is_on("keep-checkpoint");
  if (command.keep_checkpoint && !command.options.request.checkpoint)
    throw UsageError("--keep-checkpoint belongs to --checkpoint");
  const auto is_pattern = [](const char* option, const std::optional<std::string>& name) {
    return name && !parse_value(option, [&] { return pattern_fields(*name); }).empty();
  };
  const auto names_gauge = [](const std::optional<std::string>& name) {
    const std::vector<std::string> fields = name ? pattern_fields(*name) : std::vector<std::string>{};
    return std::ranges::any_of(fields, [](const std::string& field) { return field == "gauge" || field == "n"; });
  };
  command.report = values.optional_text("report");
  command.is_campaign = command.results || is_pattern("output", command.output) ||
                        is_pattern("report", command.report) ||
                        is_pattern("checkpoint", command.options.request.checkpoint) ||
                        is_pattern("eigenvectors", command.options.session.eigenvectors) ||
                        is_pattern("sources", many.list) || names_several_gauges(communicator, command.gauge);
  if (command.is_campaign && command.split > 1 && !names_gauge(command.report))
    throw UsageError("--split", "with several --gauge, a --report for each, by {gauge} or {n}, as groups share them so",
                     command.report ? "--report " + *command.report : std::string("none"));
  if (command.is_campaign && command.guess)
    throw UsageError("--guess belongs to a single configuration: several start from zero");
  if (command.stop_at_failure && !command.is_campaign) throw UsageError("--stop-at-failure belongs to several --gauge");
  if (const int n = command.options.source.noise_vectors; !many.asked() && !command.is_campaign && n > max_rhs)
    throw UsageError("--noise-vectors", "a number from 1 to " + std::to_string(max_rhs) + ", or more with --batch", n);
  if (many.asked() && command.guess)
    throw UsageError("--guess belongs to a single batch: --sources and --batch start from zero");
  if (command.split > 1) require_splittable(values);
  command.report_to_output = command.report == "-";
  if (command.report_to_output) command.report.reset();
  if (const auto format = values.optional_text("output-format")) {
    if (!command.output) throw UsageError("--output-format belongs to --output");
    command.output_format = parse_value("output-format", [&] { return parse_vector_output(*format); });
  } else if (command.output) {
    command.output_format = parse_value("output", [&] { return vector_output_by_name(*command.output); });
  }
  command.compress = compression(values, command.output && command.output_format == VectorFormat::hdf5);
  if (command.compress > 0 && command.is_campaign) throw UsageError("--compress", "a single configuration", "several");
  if ((command.is_streamed() || command.is_campaign) && command.output && command.output_format != VectorFormat::hdf5)
    throw UsageError("--output",
                     "an HDF5 file, which takes solutions one by one, with --sources, --batch, --split or several "
                     "--gauge",
                     to_string(command.output_format));
  if (command.output_format == VectorFormat::fnal && !values.count("mass"))
    throw UsageError("--output", "--mass for a propagator of FNAL, which is one of three colours",
                     std::string("--") + (values.count("masses") ? "masses" : "rational"));
  command.force = values.is_on("force");
  command.quiet = values.is_on("quiet") || command.report_to_output;
  if (command.output && command.output == command.report)
    throw UsageError("--output and --report", "two different files", "'" + *command.output + "' for both");
  require_not_read({command.output, command.report},
                   {command.gauge, command.guess, quarks.fat, quarks.naik, command.options.source.spec.path});
  return command;
}

// `unverified` takes what no_verify let pass.
std::vector<VectorField> read_guess(const Session& session, const SolveCommand& command, std::size_t n_rhs,
                                    std::vector<std::string>& unverified) {
  if (!command.guess) return {};
  std::vector<VectorField> guess = read_vectors(session.communicator(), *command.guess, "solution", session.lattice(),
                                                session.options().no_verify ? &unverified : nullptr);
  if (guess.size() != n_rhs)
    throw Error(*command.guess, std::to_string(n_rhs) + " vectors, one for each source", guess.size());
  return guess;
}

// `write` writes the solution. Solution and report get their names together. The report is written even where the
// solution could not be: it holds the history and the observables.
void write_results(const Communicator& all, const SolveCommand& command,
                   const std::function<void(const Replacing& how)>& write, SolveReport& report, std::ostream& out) {
  const Stopwatch writing;
  write_with_report(
      all, command.output, write, command.report,
      [&](const Error* failure) {
        if (failure) add_failure(report.explanation, "The solution was not written: ", *failure);
        report.seconds["write"] += all.max(writing.seconds());
        if (command.report_to_output) out << to_json(report);
        return to_json(report);
      },
      command.force);
}

// Sources whose solutions are written when they are certified: many of them, or shared by groups of ranks.
SolveReport solve_streamed(Session& session, const JobGroups* groups, const SolveCommand& command,
                           std::ostream& messages, std::ostream& out) {
  const auto& [options, request, source, many] = command.options;
  const Communicator& all = session.communicator();
  const SourceList sources(all, session.lattice(),
                           many.list ? read_source_list(all, *many.list, source) : std::vector{source}, request.system,
                           options.no_verify, source_operators(session, request.phases));
  for (const SourceList::Entry& entry : sources.entries())
    if (entry.request.spec.kind == SourceKind::file)
      require_not_read({command.output, command.report}, {entry.request.spec.path});
  std::optional<GrowingSolutions> file;
  if (command.output)
    file.emplace(all, session.lattice(), *command.output, command.force,
                 std::max<std::size_t>(request.masses.size(), 1) * sources.size(),
                 request.checkpoint ? WhenUnfinished::keep : WhenUnfinished::remove,
                 groups ? &groups->ranks() : nullptr);
  if (file && groups && !request.resume) file->empty();
  ProgressDisplay display(messages, tolerance_in_force(request, options.precision), session.lattice().global_volume());
  SolveReport report = solve_many(
      session, request, many, sources, file ? &*file : nullptr,
      [&](const CgProgress& progress) { display.update(progress); }, groups);
  display.finish();
  report.explanation = in_words_of_the_program(report.explanation);
  write_results(
      groups ? groups->ranks().all() : all, command,
      [&](const Replacing& how) { file->finish(report, *how.with, command.compress); }, report, out);
  return report;
}

// What FNAL's format holds: solutions of three colours.
void require_propagator(const std::string& path, const SourceSet& sources) {
  if (sources.request.spec.is_noise())
    throw Error(path + ": FNAL propagator", "a source of three colours", sources.name);
  require_vectors_of_a_propagator(path, std::int64_t(sources.fields.size()));
}

SolveReport solve_at_once(Session& session, const SolveCommand& command, std::ostream& messages, std::ostream& out) {
  const auto& [options, request, source, many] = command.options;
  const SourceSet sources = make_sources(session.communicator(), session.lattice(), source, options.no_verify,
                                         source_operators(session, request.phases));
  const std::size_t n_rhs = sources.fields.size();
  if (command.output && command.output_format == VectorFormat::fnal) require_propagator(*command.output, sources);

  const std::int64_t sites = session.lattice().global_volume() * std::int64_t(n_rhs);
  ProgressDisplay display(messages, tolerance_in_force(request, options.precision), sites);
  std::vector<std::string> unverified;
  std::vector<VectorField> guesses = read_guess(session, command, n_rhs, unverified);
  auto [solutions, report] = solve_sources(session, request, sources, std::move(guesses),
                                           [&](const CgProgress& progress) { display.update(progress); });
  display.finish();
  report.unverified.insert(report.unverified.end(), unverified.begin(), unverified.end());
  report.explanation = in_words_of_the_program(report.explanation);
  const auto write = [&, &solved = solutions](Replacing how) {
    how.compress = command.compress;
    write_vectors(session.communicator(), *command.output, "solution", solved, usual_precision(command.output_format),
                  solution_attributes(report), how, command.output_format, /*may_be_zero=*/true);
  };
  write_results(session.communicator(), command, write, report, out);
  return report;
}

// All names that the job writes to.
void claim_names(ClaimedNames& names, const SolveCommand& command) {
  if (command.output) names.claim(*command.output, command.force);
  if (command.report) names.claim(*command.report, command.force, WrittenBy::rank_0);
  if (command.output && command.output_format == VectorFormat::fnal)
    names.claim(*command.output + ".info", command.force, WrittenBy::rank_0);
  const auto& [session, request, source, many] = command.options;
  if (!request.checkpoint) return;
  if (command.split == 1)  // checkpoints of groups are claimed by these
    for (const std::string& path : {*request.checkpoint, previous_checkpoint(*request.checkpoint)})
      names.claim(path, true);
  if (command.is_streamed() && command.output) names.claim(unfinished_file(*command.output), true);
}

// The request as the session will get it, of a rational function one for its poles. Then the thin links are kept where
// its file names another epsilon than theirs.
SolveRequest expected_request(const Communicator& communicator, const SolveRequest& request, SessionOptions& options) {
  if (!request.rational) return request;
  const RationalFunction function = read_rational(communicator, *request.rational);
  const QuarkAction& quarks = options.quarks;
  const double own = quarks.naik_epsilon.value_or(0);
  if (quarks.action == Action::hisq && !quarks.stored() && function.naik_epsilon.value_or(own) != own)
    options.keep_thin_links = true;
  return request_of_poles(request, function, options);
}

// Everything after what is refused at once, on the ranks that take part.
int solve_on(const SolveCommand& command, const SolveRequest& expected, std::ostream& messages, std::ostream& out,
             const Communicator& ranks) {
  const auto& [options, request, source, many] = command.options;
  if (request.checkpoint) require_same_groups(ranks, *request.checkpoint, command.split);
  for (int group = 0; command.split > 1 && request.checkpoint && !request.resume && group < command.split; ++group)
    if (const std::string path = checkpoint_of_group(*request.checkpoint, group, command.split);
        file_exists(ranks, path))  // before the unfinished file is emptied
      throw FileError(path + " exists already; `resume` goes on from it");
  // Where sources take turns, the batch is what memory allows.
  const ExpectedSolve foreseen = command.is_streamed()
                                     ? ExpectedSolve{1,
                                                     request.system,
                                                     std::max(1, int(request.masses.size())),
                                                     0,
                                                     request.exact_low_modes ? LowPart::of_correlators : LowPart::none,
                                                     n_meson_fields(request) + n_baryon_fields(request)}
                                     : expected_solve(expected, source, options.quarks);
  GroupSession of_group;
  std::unique_ptr<Session> whole;
  if (command.split > 1)
    of_group = make_group_session(ranks, command.split, command.gauge, options, foreseen);
  else
    whole = std::make_unique<Session>(ranks, command.gauge, options, foreseen);
  Session& session = whole ? *whole : *of_group.session;
  print_session(messages, session);
  if (of_group.groups)
    messages << "           " << command.split << " groups of " << session.communicator().size() << " rank"
             << (session.communicator().size() == 1 ? "" : "s") << ", each with a copy of the links\n";
  const SolveReport report = command.is_streamed()
                                 ? solve_streamed(session, of_group.groups.get(), command, messages, out)
                                 : solve_at_once(session, command, messages, out);
  print_certificate(messages, report);
  if (command.output)
    messages << "  solution in " << *command.output << (command.output_format == VectorFormat::fnal ? ", fp32" : "")
             << "\n";
  if (command.report) messages << "  report in " << *command.report << "\n";
  if (report.outcome != Outcome::certified) return exit_not_converged;
  if (request.checkpoint && !command.keep_checkpoint)
    for (int group = 0; group < command.split; ++group)
      remove_checkpoints(ranks, checkpoint_of_group(*request.checkpoint, group, command.split));
  return exit_certified;
}

// Tells in `messages` how far it is, and prints the table. `report_to`: where the report is printed too; may be
// nullptr. `quiet`: configurations that fail are told on standard error. Returns the exit status, the worst of all.
// `groups` share the configurations; the first one looks at all in the end. Collective over the group.
int solve_campaign(const Communicator& communicator, const CampaignRequest& request, std::ostream& messages,
                   std::ostream* report_to, bool quiet, const std::function<bool()>& others_are_done = {}) {
  std::optional<SignalWatch> signals;
  if (request.options.request.checkpoint) signals.emplace();
  const double tolerance = tolerance_in_force(request.options.request, request.options.session.precision);
  std::optional<ProgressDisplay> display;
  const CampaignWatch watch{[&](const Session& session) { print_machine(messages, session); },
                            [&](const CampaignPart& part) { display.emplace(messages, tolerance, part.sites); },
                            [&](const CampaignPart& part) {
                              if (display) display->finish();
                              display.reset();
                              const std::string words = part.gauge + ": " + in_words_of_the_program(part.words);
                              messages << "[" << part.number << "/" << part.of << "] " << words << std::endl;
                              if (quiet && part.failed && communicator.is_root())
                                std::cerr << "staghorn: error: " << words << std::endl;
                            },
                            [&](const CgProgress& progress) {
                              if (display) display->update(progress);
                            },
                            others_are_done};
  if (!request.report && !report_to) messages << "without --report nothing is noted: a second call begins anew\n";
  const CampaignAnswer answer = run_campaign(communicator, request, watch);
  messages << in_words_of_the_program(answer.table);
  if (request.results) messages << "  correlators and condensates in " << *request.results << "\n";
  if (request.report) messages << "  report in " << *request.report << "\n";
  if (report_to) *report_to << answer.json;
  if (answer.failed > 0) return exit_error;
  return answer.certified + answer.left == answer.parts ? exit_certified : exit_not_converged;
}

// Each group takes the next configuration that none has taken. The status is that of the first group.
int solve_campaign_in_groups(const Communicator& all, int count, const CampaignRequest& request, std::ostream& messages,
                             bool quiet) {
  if (request.gauges.size() < std::size_t(count))
    throw Error("split", "at most one group for each of " + std::to_string(request.gauges.size()) + " configurations",
                count);
  const std::unique_ptr<RankGroups> groups = make_groups(all, count, request.options.session);
  bool have_met = false;
  const auto meet = [&] {
    have_met = true;
    all.patient_barrier();
    return groups->number() == 0;
  };
  int status = exit_certified;
  in_each_group(*groups, [&] {
    try {
      status = solve_campaign(groups->mine(), request, messages, nullptr, quiet, meet);
    } catch (const LocalError&) {
      throw;
    } catch (const Error&) {
      if (!have_met) meet();
      throw;
    }
  });
  all.broadcast(&status, sizeof status);
  return status;
}

int solve(const Communicator& communicator, SolveCommand command, std::ostream& out) {
  std::ostream nowhere(nullptr);
  std::ostream& messages = command.quiet ? nowhere : out;
  auto& [options, request, source, many] = command.options;

  if (command.is_campaign) {
    const std::vector<std::string> gauges = read_gauge_list(communicator, command.gauge);
    const auto names_itself = [](ClaimedNames&) {};
    return on_chosen_ranks(communicator, gauges.front(), options, names_itself, [&](const Communicator& ranks) {
      const CampaignRequest campaign{
          gauges,          command.options, command.output,          command.report,
          command.results, command.force,   command.stop_at_failure, command.keep_checkpoint};
      if (command.split > 1) return solve_campaign_in_groups(ranks, command.split, campaign, messages, command.quiet);
      return solve_campaign(ranks, campaign, messages, command.report_to_output ? &out : nullptr, command.quiet);
    });
  }
  // Everything that can be refused is refused before anything is computed.
  check_request(request, options.precision);
  check_epsilons(request, options);
  check_low_modes(request, options.eigenvectors.has_value(),
                  many.asked() ? std::vector<SourceRequest>{} : std::vector{source});
  check_mesons(request, keeps_thin_links(options), many.asked() ? std::vector<SourceRequest>{} : std::vector{source});
  const SolveRequest expected = expected_request(communicator, request, options);
  check_request(expected, options.precision);
  std::optional<SignalWatch> signals;
  if (request.checkpoint) signals.emplace();
  if (command.output) creation_date();  // throws Error where SOURCE_DATE_EPOCH cannot be read
  return on_chosen_ranks(
      communicator, command.gauge, options, [&](ClaimedNames& names) { claim_names(names, command); },
      std::bind_front(solve_on, std::cref(command), std::cref(expected), std::ref(messages), std::ref(out)));
}

}  // namespace

int run_solve(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out) {
  const std::optional<OptionValues> values = parse_options(communicator, solve_syntax(), arguments, out);
  if (!values) return exit_certified;
  const SolveCommand command = read_solve_command(communicator, *values);
  const Watchdog watchdog(communicator, watchdog_limit(*values), exit_stalled);
  if (!command.report_to_output) return solve(communicator, command, out);
  // A reader of standard output always gets one report, of the error if there is no other.
  std::ostringstream report;
  try {
    const int status = solve(communicator, command, report);
    out << report.str();
    return status;
  } catch (const LocalError&) {
    throw;
  } catch (const EndedWithCheckpoint&) {
    throw;
  } catch (const Error& error) {
    out << (report.str().empty() ? report_of_error(error) : report.str());
    throw;
  }
}

}  // namespace staghorn
