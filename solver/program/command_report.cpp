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
      "report",
      "staghorn report R.json [MORE.json ...] -o R.html [--force]",
      "Makes one page of reports of `staghorn solve`, `eigen` and `bench`, side by side: outcome, certificate,\n"
      "residuals, times, speed, memory, observables, links, machine and provenance. The page is one file, needs no\n"
      "network and has the JSON of each report inside.\n",
      po::options_description(),
      {},
      "\nExample:\n  staghorn report fp64.json mixed.json -o both.html\n"};
  po::options_description options("Options");
  options.add_options()("reports", po::value<std::vector<std::string>>()->value_name("R.json ...")->required(),
                        "reports, as --report and --json write them")(
      "output", po::value<std::string>()->value_name("R.html")->required(),
      "where to write; - prints it (-o for short)")("force", po::bool_switch(), "replace the output file if it exists");
  syntax.options.add(options);
  syntax.positional.add("reports", -1);
  return syntax;
}

}  // namespace

int run_report(const Communicator& communicator, const std::vector<std::string>& arguments, std::ostream& out) {
  std::vector<std::string> words = arguments;
  std::replace(words.begin(), words.end(), std::string("-o"), std::string("--output"));
  const std::optional<OptionValues> values = parse_options(communicator, report_syntax(), words, out);
  if (!values) return exit_certified;
  const std::string output = (*values)["output"].as<std::string>();
  const bool force = (*values)["force"].as<bool>();
  const auto& files = (*values)["reports"].as<std::vector<std::string>>();
  if (std::find(files.begin(), files.end(), output) != files.end())
    throw UsageError("'" + output + "' would be read and replaced: choose another name to write to");
  ClaimedNames names(communicator);
  if (output != "-") names.claim(output, force);
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
