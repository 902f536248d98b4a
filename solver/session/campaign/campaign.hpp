// One request on many gauge configurations. One context: links change in place, operators and tuning stay. The program
// and Python call this.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "solver/request/option_table.hpp"
#include "solver/session/session.hpp"

namespace staghorn {

struct CampaignRequest {
  std::vector<std::string> gauges;    // of one lattice (gauge_list.hpp)
  SolveOptions options;               // sources may hold {gauge} and {n}, so may `checkpoint`, which needs one of them
  std::optional<std::string> output;  // of solutions: a pattern with {gauge} or {n}, {mass} and {source}
  // Of all configurations, and the record from which a second call goes on. With {gauge} or {n} a report for each
  // configuration: jobs with the same names share the campaign, each configuration is of the job that comes first.
  std::optional<std::string> report;
  std::optional<std::string> results;  // correlators and condensates in HDF5 (campaign_record.hpp)
  bool force = false;                  // replace these files, and begin anew
  bool stop_at_failure = false;        // at the first configuration that is not certified
  bool keep_checkpoints = false;       // of configurations that are certified, whose states are removed else
};

// One configuration of it, for those who show how far it is.
struct CampaignPart {
  std::string gauge;
  std::size_t number = 0, of = 0;  // from 1
  std::int64_t sites = 0;          // of the lattice, times right-hand sides
  std::string words{};             // at its end: what became of it
  bool failed = false;             // it ended with an error, which is in `words`
};

// What front ends show; each may be empty.
struct CampaignWatch {
  std::function<void(const Session&)> session_is_there;
  std::function<void(const CampaignPart&)> part_begins, part_ends;
  std::function<void(const CgProgress&)> progress;
  // Of groups of one job that share the campaign: waits until all of them have done what they took. Returns whether
  // this one then looks at what is left, as a job does that knows of no others.
  std::function<bool()> others_are_done;
};

struct CampaignAnswer {
  int parts = 0, certified = 0, skipped = 0, not_converged = 0, failed = 0;  // `skipped` are certified too
  int left = 0;                                                              // other jobs work on these
  std::string json;   // the report of all: docs/campaigns/README.md
  std::string table;  // the same for people: a line for each configuration, averages over those that are certified
};

// Solves for every configuration, source and mass. A configuration that fails does not stop the others, unless asked:
// its error is in the report. What an earlier call has certified is not solved again: the same request, links of the
// same hash, complete files. Throws Error before anything is solved where a name is taken, two files would have one
// name, an option does not go with several configurations, or `report` is of another request; EndedWithCheckpoint as
// a solve does. Errors of the machine (memory, devices, MPI) end the campaign. Collective.
CampaignAnswer run_campaign(const Communicator& communicator, const CampaignRequest& request,
                            const CampaignWatch& watch = {});

// Reports of campaigns with the same request, or of configurations of one, as one report, which is written to `report`;
// `results` as of a campaign. Of a configuration that several have the certified one counts. Throws Error where
// requests or links differ. Collective.
struct MergeRequest {
  std::vector<std::string> reports;
  std::optional<std::string> report, results;
  bool force = false;  // replace these files
};
CampaignAnswer merge_campaigns(const Communicator& communicator, const MergeRequest& request);

// The table of a report of a campaign, for people; `path` names it in errors. Throws Error where it is another report.
// Local.
std::string campaign_table(const std::string& path, const std::string& report);

}  // namespace staghorn
