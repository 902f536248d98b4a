#include "solver/session/campaign/campaign_record.hpp"

#include <algorithm>
#include <functional>

#include "halo/watch/error_kind.hpp"
#include "solver/json/json_text.hpp"
#include "solver/report/provenance.hpp"
#include "solver/report/setting_json.hpp"
#include "solver/request/words/formatted.hpp"

namespace staghorn {

namespace {

// Outcomes of a part, from the best to the worst. `unfinished`: it has not begun, or a call ended while it was at work.
constexpr const char* outcomes[] = {"certified", "out_of_iterations", "stagnated", "breakdown", "unfinished", "failed"};

bool is_certified_part(const Json& part) { return part.at("outcome") == "certified"; }

// A report as it stands in a file, and each configuration of it. Throws Error where it is something else.
Json read_report(const std::string& path, const std::string& text, const std::string& otherwise) {
  Json report = json_of_text(path, text, "the report of several configurations" + otherwise);
  try {
    (void)report.at("campaign").at("request").get<CampaignIdentity>();
    (void)report.at("configurations").size();
  } catch (const nlohmann::json::exception&) {
    throw FileError(path, "the report of several configurations" + otherwise, "another");
  }
  return report;
}

std::string request_line_of(const CampaignIdentity& request) {
  Json line;
  line["unfinished_report_of"] = request;
  return text_of_json(std::move(line), -1) + "\n";
}

// Gives `take` each configuration of a report, then those of the lines that were added to it since.
void each_part(const std::string& path, const Json& report, const std::string& later,
               const std::function<void(Json)>& take) {
  const auto complete = [&](Json part) {
    part.at("skipped") = false;
    part.emplace("category", nullptr);  // reports of version 0.1 have none
    for (const char* name : {"gauge", "outcome", "error", "links_hash", "files", "seconds", "report"}) part.at(name);
    take(std::move(part));
  };
  try {
    for (const Json& part : report.at("configurations")) complete(part);
    const CampaignIdentity request = report.at("campaign").at("request").get<CampaignIdentity>();
    std::size_t end = later.find('\n');
    if (end == std::string::npos || later.substr(0, end + 1) != request_line_of(request)) return;
    for (std::size_t begin = end + 1; (end = later.find('\n', begin)) != std::string::npos; begin = end + 1)
      complete(json_of_text(path, later.substr(begin, end - begin),
                            "lines of a report"));  // a line without an end was not written wholly
  } catch (const nlohmann::json::exception&) {
    throw FileError(path + " exists already, and is no report of several configurations; `force` replaces it");
  }
}

// Throws Error where `found`, the request of the report `path`, is not this one.
void require_same_request(const std::string& path, const CampaignIdentity& request, const CampaignIdentity& found,
                          const std::string& what, const char* advice) {
  for (const auto& [name, value] : request) {
    const auto other = found.find(name);
    const std::string text = other == found.end() ? "none" : other->second;
    if (text != value) throw FileError(path + what + name, value, text + advice);
  }
}

}  // namespace

PartWork work_of(const Json& part) {
  PartWork work;
  for (const Json& rhs : part.at("report").at("rhs")) {
    work.iterations += rhs.at("iterations").get<long>();
    work.worst_residual = std::max(work.worst_residual, rhs.at("residual_true").get<double>());
  }
  return work;
}

CampaignRecord::CampaignRecord(const CampaignIdentity& request, const std::vector<double>& masses,
                               const std::vector<std::string>& sources, const std::vector<std::string>& gauges)
    : request_(request), masses_(masses), sources_(sources), n_(gauges.size()), parts_(Json::array()) {
  for (const std::string& gauge : gauges)
    parts_.push_back({{"gauge", gauge},
                      {"outcome", "unfinished"},
                      {"skipped", false},
                      {"error", nullptr},
                      {"category", nullptr},
                      {"links_hash", nullptr},
                      {"files", Json::array()},
                      {"seconds", nullptr},
                      {"report", nullptr}});
}

CampaignRecord CampaignRecord::merged(const std::vector<Source>& reports) {
  CampaignRecord record;
  record.parts_ = Json::array();
  std::map<std::string, std::size_t> numbers;  // of configurations by name
  for (const auto& [path, text, later] : reports) {
    const Json report = read_report(path, text, "");
    const Json& campaign = report.at("campaign");
    const CampaignIdentity request = campaign.at("request").get<CampaignIdentity>();
    if (&path == &reports[0].path) {
      record.request_ = request;
      record.masses_ = campaign.at("masses").get<std::vector<double>>();
      record.sources_ = campaign.at("sources").get<std::vector<std::string>>();
    }
    require_same_request(path, record.request_, request, ": the request of " + reports[0].path + ": ", "");
    each_part(path, report, later, [&](Json part) {
      const auto [same, is_new] = numbers.emplace(part.at("gauge"), record.parts_.size());
      if (is_new) return record.parts_.push_back(std::move(part));
      Json& there = record.parts_[same->second];
      if (!is_certified_part(there)) {
        there = std::move(part);
      } else if (is_certified_part(part) && part.at("links_hash") != there.at("links_hash")) {
        throw FileError(path + ": links of " + same->first,
                        there.at("links_hash").get<std::string>() + ", as another has",
                        part.at("links_hash").get<std::string>());
      }
    });
  }
  record.n_ = record.parts_.size();
  return record;
}

void CampaignRecord::go_on_from(const std::string& path, const std::string& text, const std::string& later,
                                std::optional<std::size_t> only) {
  std::map<std::string, std::size_t> numbers;  // of configurations by name
  for (std::size_t k = 0; k < n_; ++k) numbers.emplace(parts_[k].at("gauge"), k);
  const Json before = read_report(path, text, " (`force` replaces what is there)");
  require_same_request(path, request_, before.at("campaign").at("request").get<CampaignIdentity>(),
                       ", an earlier report: ", "; another name, or `force` to begin anew");
  each_part(path, before, later, [&](Json part) {
    if (only && part.at("gauge") != parts_[*only].at("gauge"))
      throw FileError(path, "the report of " + parts_[*only].at("gauge").get<std::string>(),
                      "that of " + part.at("gauge").get<std::string>());
    const auto [same, is_new] = numbers.emplace(part.at("gauge"), parts_.size());
    if (is_new)
      parts_.push_back(std::move(part));
    else
      parts_[same->second] = std::move(part);
  });
}

bool CampaignRecord::is_certified(std::size_t part) const { return is_certified_part(parts_[part]); }

bool CampaignRecord::says_certified(std::size_t part, const std::vector<std::string>& files) const {
  return is_certified(part) && parts_[part].at("files") == files;
}

bool CampaignRecord::has_links(std::size_t part, const std::string& hash) const {
  return parts_[part].at("links_hash") == hash;
}

std::size_t CampaignRecord::n_solutions(std::size_t part, std::optional<std::size_t> mass,
                                        std::optional<std::size_t> source) const {
  const Json& summaries = parts_[part].at("report").at("sources");  // mass by mass
  std::size_t n = 0;
  for (std::size_t i = 0; i < summaries.size(); ++i) {
    const std::size_t of_mass = i / sources_.size(), of_source = i % sources_.size();
    if (mass.value_or(of_mass) == of_mass && source.value_or(of_source) == of_source)
      n += summaries[i].at("n_rhs").get<std::size_t>();
  }
  return n;
}

bool CampaignRecord::was_at_work(std::size_t part, const std::vector<std::string>& files) const {
  return parts_[part].at("outcome") == "unfinished" && parts_[part].at("files") == files;
}

void CampaignRecord::begins(std::size_t part, const std::string& links_hash, const std::vector<std::string>& files) {
  at(part)["outcome"] = "unfinished";
  at(part)["error"] = nullptr;
  at(part)["category"] = nullptr;
  at(part)["links_hash"] = links_hash;
  at(part)["files"] = files;
  at(part)["report"] = nullptr;
}

void CampaignRecord::ends(std::size_t part, const SolveReport& report, double seconds) {
  at(part)["outcome"] = to_string(report.outcome);
  at(part)["seconds"] = seconds_json(seconds);
  SolveReport short_report = report;
  for (RhsReport& rhs : short_report.rhs) rhs.history.clear();
  at(part)["report"] = json_of_text("report", to_json(short_report), "a report");
}

void CampaignRecord::fails(std::size_t part, const Error& error) {
  at(part)["outcome"] = "failed";
  at(part)["error"] = error.what();
  at(part)["category"] = to_string(error.kind());
  at(part)["report"] = nullptr;
}

std::string CampaignRecord::words(std::size_t part) const {
  const Json& entry = parts_[part];
  const std::string outcome = entry.at("outcome");
  if (outcome == "failed") return "FAILED: " + entry.at("error").get<std::string>();
  if (const auto other = elsewhere_.find(part); other != elsewhere_.end())
    return "left to another job: " + other->second;
  if (entry.at("report").is_null()) return "not begun";
  const PartWork work = work_of(entry);
  return format("%s, %zu right-hand sides, %ld iterations, residuals up to %.1e, %.1f s%s", outcome.c_str(),
                entry.at("report").at("rhs").size(), work.iterations, work.worst_residual,
                entry.at("seconds").get<double>(), entry.at("skipped") ? ", by an earlier call" : "");
}

std::string CampaignRecord::line(std::size_t part) const { return text_of_json(parts_[part], -1) + "\n"; }

std::string CampaignRecord::request_line() const { return request_line_of(request_); }

std::string CampaignRecord::text() const { return text_of(parts_); }

std::string CampaignRecord::text(std::size_t part) const { return text_of(Json::array({parts_[part]})); }

std::string CampaignRecord::text_of(const Json& parts) const {
  std::size_t worst = 0;
  int skipped = 0;
  Json counts = Json::object();
  for (const Json& part : parts) {
    skipped += part.at("skipped").get<bool>();
    for (std::size_t k = 0; k < std::size(outcomes); ++k)
      if (part.at("outcome") == outcomes[k]) {
        worst = std::max(worst, k);
        counts[outcomes[k]] = counts.value(outcomes[k], 0) + 1;
      }
  }
  Json json;
  json["schema_version"] = schema_version;
  json["outcome"] = outcomes[worst];
  json["campaign"] = {{"staghorn_version", version()}, {"request", request_}, {"masses", masses_},
                      {"sources", sources_},           {"outcomes", counts},  {"skipped", skipped}};
  json["configurations"] = parts;
  return text_of_json(std::move(json), 1) + "\n";
}

std::vector<const Json*> CampaignRecord::certified() const {
  std::vector<const Json*> found;
  for (const Json& part : parts_)
    if (is_certified_part(part)) found.push_back(&part);
  return found;
}

int CampaignRecord::count(const char* outcome) const {
  int n = 0;
  for (std::size_t part = 0; part < n_; ++part) n += parts_[part].at("outcome") == outcome;
  return n;
}

int CampaignRecord::n_skipped() const {
  int n = 0;
  for (std::size_t part = 0; part < n_; ++part) n += parts_[part].at("skipped").get<bool>();
  return n;
}

}  // namespace staghorn
