// `staghorn certify`: the residual of a solution that any code wrote, and its convention.
#include <algorithm>
#include <ostream>
#include <set>

#include "halo/watchdog.hpp"
#include "lattice_io/files/output_file.hpp"
#include "lattice_io/files/text_file.hpp"
#include "solver/program/command_line/command_options.hpp"
#include "solver/program/commands.hpp"
#include "solver/request/words/formatted.hpp"
#include "solver/session/certify/certify_input.hpp"

namespace staghorn {

namespace po = boost::program_options;

namespace {

// Options of the table that a certificate reads.
const std::vector<std::string> options_of_solutions{"mass",          "system", "source",   "color",
                                                    "noise_vectors", "phases", "tolerance"};

// Those of solves alone, among the options of the operator and of machines.
const std::vector<std::string> options_left_out{
    "precision",       "links",       "sloppy",   "sloppy_links", "fat_links",  "naik_links",      "sloppy_naik_links",
    "keep_thin_links", "transport",   "overlap",  "tuning",       "solver",     "preconditioner",  "blas",
    "device",          "certificate", "loopback", "eigenvectors", "eigenpairs", "eigenvectors_on", "shares"};

// The options of `group` that are not in `wanted`.
std::vector<std::string> all_but(OptionGroup group, const std::vector<std::string>& wanted) {
  std::vector<std::string> others;
  for (const Option& option : solve_options())
    if (option.group == group && std::find(wanted.begin(), wanted.end(), option.name) == wanted.end())
      others.emplace_back(option.name);
  return others;
}

CommandSyntax certify_syntax() {
  CommandSyntax syntax{
      "certify", "staghorn certify --gauge FILE --solution X [options]      (mpirun -n N in front for more ranks)",
      "Computes the residual |b - M x| / |b| of a solution that any code wrote, in fp64 by the plain path.\n"
      "Where it is large, looks for the convention that makes it small: mass or 2m, D or D/2, M, its adjoint or A,\n"
      "staggered phases and their origin, boundary in t, parity, action, daggered links (docs/certify.md).\n"
      "Exit status: 0 certified, 1 error, 2 usage, 3 not certified, or only in another convention,\n"
      "4 ended by the watchdog.\n",
      "\nExamples:\n"
      "  staghorn certify --gauge l8888.milc --solution x.scidac --source file:b.scidac --mass 0.05 --phases milc\n"
      "  staghorn certify --gauge l8888.milc --solution x.npy --source point:0,0,0,0 --color 0 --no-verify\n"
      "  staghorn certify --fat fat.l8 --naik long.l8 --solution x.scidac --source file:b.scidac\n"};
  po::options_description problem("Problem"), on_lattice("Operator"), machine("Machine"), files("Files");
  add_options(
      problem,
      {gauge_option(),
       {"solution", "X", "solutions: HDF5, SciDAC, npy or FNAL, found from the content", {}, OptionRow::required},
       {"tolerance", "TOL",
        "relative residual |b - M x| / |b| up to which a solution is certified (default: 1e-10 where the files hold "
        "fp64, 1e-6 where they hold fp32)"},
       {"any-convention", "", "certify a solution in whatever convention it is"},
       {"no-search", "", "look for no other convention"}});
  add_options(problem, OptionGroup::problem, all_but(OptionGroup::problem, options_of_solutions));
  add_options(on_lattice, OptionGroup::lattice_operator, options_left_out);
  add_options(machine, OptionGroup::machine, options_left_out);
  add_options(files, {{"report", "F.json", "write the report; - prints it, and nothing else"},
                      {"force", "", "replace a report that exists"},
                      {"quiet", "", "print nothing but errors"}});
  syntax.options.add(problem).add(on_lattice).add(machine).add(watchdog_options()).add(files);
  return syntax;
}

struct CertifyCommand {
  CertifyInput input;
  std::optional<std::string> report{};
  bool report_to_output = false, force = false, quiet = false;
};

CertifyCommand read_certify_command(const OptionValues& values) {
  SolveOptions options;
  set_options(values, options);
  std::set<std::string> named;
  for (const char* name : {"mass", "system"})
    if (values.count(name) && !values.is_default(name)) named.insert(name);
  CertifyCommand command{with_usage_errors([&] { return input_of_options(options, named); },
                                           [](const std::string& words) { return in_words_of_the_program(words); })};
  CertifyInput& input = command.input;
  input.gauge = gauge_of(values, options.session.quarks, "certify");
  input.solution = values.text("solution");
  input.request.any_convention = values.is_on("any-convention");
  input.request.search = !values.is_on("no-search");
  command.report = values.optional_text("report");
  command.report_to_output = command.report == "-";
  if (command.report_to_output) command.report.reset();
  command.force = values.is_on("force");
  command.quiet = values.is_on("quiet") || command.report_to_output;
  const QuarkAction& quarks = options.session.quarks;
  require_not_read({command.report}, {input.gauge, input.solution, quarks.fat, quarks.naik, input.source.spec.path});
  return command;
}

void print_convention(std::ostream& out, const CertifyReport& report) {
  const Convention& found = *report.convention;
  out << "  " << equation(found) << ", m = " << format("%.10g", found.mass);
  const std::string meaning = meaning_of_mass(found, report.request.mass);
  if (report.request.mass && meaning != "m")
    out << ": the mass given " << (meaning.empty() ? "is another" : "stands for " + meaning);
  out << "\n  staggered phases " << to_string(found.phases) << ", boundary " << to_string(found.boundary) << "\n";
  for (const std::string& text : differences(found, report.asked)) out << "  not as asked: " << text << "\n";
  if (const std::string options = options_of(found); !options.empty() && report.outcome != CertifyOutcome::certified)
    out << "  certified with " << options << "\n";
}

void print_certificate(std::ostream& out, const CertifyReport& report) {
  out << (report.outcome == CertifyOutcome::certified ? "CERTIFIED" : "NOT CERTIFIED: " + to_string(report.outcome))
      << (report.verified() ? "" : "   UNVERIFIED") << "   " << report.solution << ", tolerance "
      << format("%.3g", report.tolerance) << "\n";
  if (report.convention) print_convention(out, report);
  for (std::size_t i = 0; i < report.residuals.size(); ++i)
    out << format("  vector %3zu   |b - M x| / |b| = %.4e   in fp64, plain path\n", i, report.residuals[i]);
  out << format("  numbers in %s: rounding alone leaves about %.1e\n", to_string(report.request.stored).c_str(),
                report.attainable);
  if (report.tried > 0) out << format("  %ld conventions tried\n", report.tried);
  if (!report.explanation.empty()) out << "  " << in_words_of_the_program(report.explanation) << "\n";
  out << std::flush;
}

}  // namespace

int run_certify(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out) {
  const std::optional<OptionValues> values = parse_options(communicator, certify_syntax(), arguments, out);
  if (!values) return exit_certified;
  const CertifyCommand command = read_certify_command(*values);
  const Watchdog watchdog(communicator, watchdog_limit(*values), exit_stalled);
  std::ostream nowhere(nullptr);
  ClaimedNames names(communicator);
  if (command.report) names.claim(*command.report, command.force, WrittenBy::rank_0);
  const CertifyReport report = certify(communicator, command.input);
  print_certificate(command.quiet ? nowhere : out, report);
  if (command.report_to_output) out << to_json(report);
  if (command.report) write_text_file(communicator, *command.report, to_json(report), command.force);
  return report.outcome == CertifyOutcome::certified ? exit_certified : exit_not_converged;
}

}  // namespace staghorn
