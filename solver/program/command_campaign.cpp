// `staghorn campaign merge`: reports of jobs that worked on many configurations, as one.
#include <ostream>

#include "solver/program/command_line/command_options.hpp"
#include "solver/program/commands.hpp"
#include "solver/session/campaign/campaign.hpp"

namespace staghorn {

namespace po = boost::program_options;

namespace {

CommandSyntax campaign_syntax() {
  CommandSyntax syntax{
      "campaign", "staghorn campaign merge R.json [MORE.json ...] [--report ALL.json] [--results ALL.h5]",
      "Merges reports of `staghorn solve` on many configurations: of jobs that share them (--report 'r_{gauge}.json'), "
      "or of\n"
      "jobs on lists of their own. Prints a line for each configuration, and means with errors over those that are\n"
      "certified. All reports are of one request. Of a configuration that several have the certified one counts.\n"
      "Exit status: 0 all are certified, 1 error, 2 usage, 3 some are not.\n",
      "\nExamples:\n"
      "  staghorn campaign merge r_*.json --report pions.json --results pions.h5\n"
      "  staghorn campaign merge pions.json\n"};
  syntax.options.add(options_of(
      "Options",
      {{"what", "merge", "what to do", {}, OptionRow::required},
       {"reports", "R.json ...", "reports of campaigns", {}, OptionRow::several_required},
       {"report", "F.json", "write them as one report"},
       {"results", "F.h5", "write correlators and condensates of all configurations, masses and sources in HDF5"},
       {"force", "", "replace output files that exist"},
       {"quiet", "", "print nothing but errors"}}));
  syntax.positional.add("what", 1).add("reports", -1);
  return syntax;
}

}  // namespace

int run_campaign_command(const Communicator& communicator, const std::vector<std::string>& arguments,
                         std::ostream& out) {
  const std::optional<OptionValues> values = parse_options(communicator, campaign_syntax(), arguments, out);
  if (!values) return exit_certified;
  if (values->text("what") != "merge") throw UsageError("staghorn campaign", "merge", "'" + values->text("what") + "'");
  const auto& files = values->words("reports");
  const MergeRequest request{files, values->optional_text("report"), values->optional_text("results"),
                             values->is_on("force")};
  require_not_read({request.report, request.results}, {files.begin(), files.end()});
  const CampaignAnswer answer = merge_campaigns(communicator, request);
  if (!values->is_on("quiet")) {
    out << answer.table;
    if (request.results) out << "  correlators and condensates in " << *request.results << "\n";
    if (request.report) out << "  report in " << *request.report << "\n";
  }
  return answer.certified == answer.parts ? exit_certified : exit_not_converged;
}

}  // namespace staghorn
