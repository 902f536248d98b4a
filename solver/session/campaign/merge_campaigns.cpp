// Reports of a campaign that several jobs have worked on, as one.
#include <sstream>

#include "halo/watch/error.hpp"
#include "lattice_io/files/output_file.hpp"
#include "lattice_io/files/text_file.hpp"
#include "solver/session/campaign/campaign.hpp"
#include "solver/session/campaign/campaign_record.hpp"

namespace staghorn {

namespace {

std::string table_of(const CampaignRecord& record) {
  std::ostringstream table;
  print_campaign(table, record);
  return table.str();
}

}  // namespace

CampaignAnswer merge_campaigns(const Communicator& communicator, const MergeRequest& request) {
  if (request.reports.empty()) throw Error("reports", "at least one", "none");
  if (request.report && request.report == request.results)
    throw Error("results", "another file than `report`", "'" + *request.results + "'");
  ClaimedNames names(communicator);
  for (const auto& path : {request.report, request.results})
    if (path) names.claim(*path, request.force);
  std::vector<CampaignRecord::Source> sources;
  for (const std::string& path : request.reports) {
    const std::string lines = unfinished_file(path);
    sources.push_back({path, read_text_file(communicator, path),
                       file_exists(communicator, lines) ? read_text_file(communicator, lines) : ""});
  }
  const CampaignRecord record = CampaignRecord::merged(sources);
  CampaignAnswer answer = answer_of(record);
  if (request.results) write_campaign_results(communicator, *request.results, record, request.force);
  if (request.report) write_text_file(communicator, *request.report, answer.json, request.force);
  return answer;
}

CampaignAnswer answer_of(const CampaignRecord& record) {
  CampaignAnswer answer;
  answer.parts = int(record.size());
  answer.certified = record.count("certified");
  answer.skipped = record.n_skipped();
  answer.failed = record.count("failed");
  answer.left = record.n_left();
  answer.not_converged = answer.parts - answer.certified - answer.failed - record.count("unfinished");
  answer.json = record.text();
  answer.table = table_of(record);
  return answer;
}

std::string campaign_table(const std::string& path, const std::string& report) {
  return table_of(CampaignRecord::merged({{path, report, ""}}));
}

}  // namespace staghorn
