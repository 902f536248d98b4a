// `staghorn solve` on several configurations.
#include <omp.h>

#include <iostream>
#include <optional>

#include "halo/watch/signal_watch.hpp"
#include "solver/program/command_line/command_options.hpp"
#include "solver/program/commands.hpp"
#include "solver/program/progress.hpp"
#include "solver/program/solve_summary.hpp"
#include "solver/session/campaign/campaign.hpp"

namespace staghorn {

int solve_campaign(const Communicator& communicator, const CampaignRequest& request, std::ostream& messages,
                   std::ostream* report_to, bool quiet) {
  std::optional<SignalWatch> signals;
  if (request.options.request.checkpoint) signals.emplace();
  const double tolerance = tolerance_in_force(request.options.request, request.options.session.precision);
  std::optional<ProgressDisplay> display;
  const CampaignWatch watch{[&](const Session& session) { print_machine(messages, session, omp_get_max_threads()); },
                            [&](const CampaignPart& part) {
                              display.emplace(messages, standard_output_is_terminal(), tolerance, part.sites);
                            },
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
                            }};
  if (!request.report && !report_to) messages << "without --report nothing is noted: a second call begins anew\n";
  const CampaignAnswer answer = run_campaign(communicator, request, watch);
  messages << in_words_of_the_program(answer.table);
  if (request.results) messages << "  correlators and condensates in " << *request.results << "\n";
  if (request.report) messages << "  report in " << *request.report << "\n";
  if (report_to) *report_to << answer.json;
  if (answer.failed > 0) return exit_error;
  return answer.certified == answer.parts ? exit_certified : exit_not_converged;
}

}  // namespace staghorn
