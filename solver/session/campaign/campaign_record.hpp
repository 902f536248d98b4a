// The report of a campaign, and what a second call knows of the first: an entry for each configuration. It goes to the
// disk whenever a part begins or ends. Averages for people, and all values in one HDF5 file. Private to this folder.
// Local.
#pragma once

#include <iosfwd>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "halo/communicator.hpp"
#include "halo/watch/error.hpp"
#include "solver/report/solve_report.hpp"
#include "solver/session/campaign/campaign.hpp"

namespace staghorn {

// What a campaign asks, name by name: all that decides an answer but the links.
using CampaignIdentity = std::map<std::string, std::string>;

// Iterations of all right-hand sides of a part, and their worst residual.
struct PartWork {
  long iterations = 0;
  double worst_residual = 0;
};
PartWork work_of(const nlohmann::ordered_json& part);

class CampaignRecord {
 public:
  static constexpr int schema_version = 1;
  static constexpr const char* start_of_lines = "{\"unfinished_report_of\":";  // of request_line()

  // Nothing is done yet. `masses` and `sources` as in words.
  CampaignRecord(const CampaignIdentity& request, const std::vector<double>& masses,
                 const std::vector<std::string>& sources, const std::vector<std::string>& gauges);

  // All that reports of one request say, the parts in the order in which they come. Of a configuration that several
  // have the certified entry counts, else the last. Throws Error where requests differ, or where two certified entries
  // of one configuration are of other links.
  struct Source {
    std::string path, text, later;  // as go_on_from has them
  };
  static CampaignRecord merged(const std::vector<Source>& reports);

  // Takes over what an earlier call left in `text`, the content of `path`, and in `later`, what that call has added
  // since (record_file.hpp). Configurations of that call that are not among these stay, behind these. Throws Error
  // where that is no record, or one of another request: it names what differs. `only`: it must be of this part alone.
  void go_on_from(const std::string& path, const std::string& text, const std::string& later,
                  std::optional<std::size_t> only = std::nullopt);

  bool is_certified(std::size_t part) const;
  bool is_skipped(std::size_t part) const { return parts_[part].at("skipped").get<bool>(); }
  // Whether the record says of this configuration that it is certified, with these files; and with links of this hash.
  bool says_certified(std::size_t part, const std::vector<std::string>& files) const;
  bool has_links(std::size_t part, const std::string& hash) const;
  // Solutions of one mass or source of a part that is certified; absent: of all.
  std::size_t n_solutions(std::size_t part, std::optional<std::size_t> mass, std::optional<std::size_t> source) const;
  // Whether an earlier call ended while it was at work on this configuration with these files: they may be replaced.
  bool was_at_work(std::size_t part, const std::vector<std::string>& files) const;

  void begins(std::size_t part, const std::string& links_hash, const std::vector<std::string>& files);
  void skipped(std::size_t part) { at(part)["skipped"] = true; }
  void ends(std::size_t part, const SolveReport& report, double seconds);  // without histories of residuals
  void fails(std::size_t part, const Error& error);
  // Another job works on it, or did and has not certified it: `who` says which.
  void left_to_another(std::size_t part, const std::string& who) { elsewhere_[part] = who; }
  void none_left() { elsewhere_.clear(); }
  bool is_left(std::size_t part) const { return elsewhere_.count(part) > 0; }

  // What became of a part, in words.
  std::string words(std::size_t part) const;
  // What the record knows of a part, as one line with a newline; and a line that says of which request the record is.
  std::string line(std::size_t part) const;
  std::string request_line() const;
  // The report, with a trailing newline. The outcome is the worst: failed, unfinished, breakdown, ..., certified.
  std::string text() const;
  std::string text(std::size_t part) const;  // of one configuration
  const nlohmann::ordered_json& parts() const { return parts_; }
  // The reports of those that are certified, in order.
  std::vector<const nlohmann::ordered_json*> certified() const;
  const std::vector<double>& masses() const { return masses_; }
  const std::vector<std::string>& sources() const { return sources_; }
  int count(const char* outcome) const;  // of this call's parts: "certified", "failed", ...
  int n_skipped() const;
  int n_left() const { return int(elsewhere_.size()); }
  std::size_t size() const { return n_; }

 private:
  CampaignRecord() = default;
  nlohmann::ordered_json& at(std::size_t part) { return parts_[part]; }
  std::string text_of(const nlohmann::ordered_json& parts) const;

  CampaignIdentity request_;
  std::vector<double> masses_;
  std::vector<std::string> sources_;
  std::size_t n_ = 0;                             // parts of this call
  nlohmann::ordered_json parts_;                  // of this call, then of earlier ones
  std::map<std::size_t, std::string> elsewhere_;  // parts that other jobs hold: who does
};

// Numbers, report and table of what the record knows. Local.
CampaignAnswer answer_of(const CampaignRecord& record);

// A line for each configuration of this call, then averages with standard errors over all that are certified. Local.
void print_campaign(std::ostream& out, const CampaignRecord& record);

// Writes the file, for n configurations and m masses, and for each observable that s sources give:
//   gauge, links_hash        [n]            texts
//   plaquette, mass          [n], [m]
//   ObservableKind::sources  [s]            texts, as pion_source
//   ObservableKind::name     [n, m, s, T]   of a curve; of a mean [n, m, s, vectors]
// Collective.
void write_campaign_results(const Communicator& communicator, const std::string& path, const CampaignRecord& record,
                            bool force);

}  // namespace staghorn
