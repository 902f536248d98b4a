// `staghorn report`: reports as one page of HTML.
#include <algorithm>
#include <ostream>

#include "lattice_io/files/output_file.hpp"
#include "lattice_io/files/text_file.hpp"
#include "solver/observables/observable_table.hpp"
#include "solver/program/command_line/command_options.hpp"
#include "solver/program/commands.hpp"
#include "solver/report/html/html_report.hpp"

namespace staghorn {

namespace po = boost::program_options;

namespace {

CommandSyntax report_syntax() {
  CommandSyntax syntax{
      "report", "staghorn report R.json [MORE.json ...] -o R.html [--force]",
      "Makes one page of reports of `staghorn solve`, `eigen` and `bench`, side by side: outcome, certificate,\n"
      "residuals, times, speed, memory, observables, links, machine and provenance. The page is one file, needs no\n"
      "network and has the JSON of each report inside.\n",
      "\nExample:\n  staghorn report fp64.json mixed.json -o both.html\n"};
  syntax.options.add(options_of(
      "Options",
      {{"reports", "R.json ...", "reports, as --report and --json write them", {}, OptionRow::several_required},
       {"output", "R.html", "where to write; - prints it (-o for short)", {}, OptionRow::required},
       {"force", "", "replace the output file if it exists"}}));
  syntax.positional.add("reports", -1);
  return syntax;
}

}  // namespace

int run_report(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out) {
  std::vector<std::string> words = arguments;
  std::replace(words.begin(), words.end(), std::string("-o"), std::string("--output"));
  const std::optional<OptionValues> values = parse_options(communicator, report_syntax(), words, out);
  if (!values) return exit_certified;
  const std::string output = values->text("output");
  const bool force = values->is_on("force");
  const auto& files = values->words("reports");
  require_not_read({output}, {files.begin(), files.end()});
  ClaimedNames names(communicator);
  if (output != "-") names.claim(output, force, WrittenBy::rank_0);
  std::vector<NamedReport> reports;
  for (const std::string& file : files) reports.push_back({file, read_text_file(communicator, file)});
  const std::string page = html_report(reports, observable_kinds());
  if (output == "-") {
    out << page;
    return exit_certified;
  }
  write_text_file(communicator, output, page, force);
  out << "page in " << output << "\n";
  return exit_certified;
}

}  // namespace staghorn
