#include "solver/session/campaign/campaign.hpp"

#include <algorithm>
#include <set>

#include "halo/watch/error.hpp"
#include "halo/watch/stopwatch.hpp"
#include "lattice_io/files/header_text.hpp"
#include "lattice_io/files/output_file.hpp"
#include "lattice_io/files/text_file.hpp"
#include "lattice_io/gauge/gauge_format.hpp"
#include "solver/checkpoint/checkpoint_file.hpp"
#include "solver/eigen/eigenpair_identity.hpp"
#include "solver/gauge/context.hpp"
#include "solver/krylov/table/solver_table.hpp"
#include "solver/observables/observable_table.hpp"
#include "solver/report/provenance.hpp"
#include "solver/request/name_pattern.hpp"
#include "solver/request/option_text.hpp"
#include "solver/request/solve_checks.hpp"
#include "solver/search/search_keeper.hpp"
#include "solver/session/campaign/campaign_files.hpp"
#include "solver/session/campaign/campaign_record.hpp"
#include "solver/session/campaign/gauge_list.hpp"
#include "solver/session/campaign/record_file.hpp"
#include "solver/session/campaign/shared_records.hpp"
#include "solver/session/source_operators.hpp"

namespace staghorn {

namespace {

// `pattern`, the value of an option, for one configuration.
std::string filled(const std::string& option, const std::string& pattern, const std::string& gauge) {
  try {
    return fill_pattern(pattern, fields_of_gauge(gauge));
  } catch (const Error& error) {
    throw Error(error.kind(), about_option(option, error.what()));
  }
}

// The sources of one configuration: {gauge} and {n} in them are its own.
std::vector<SourceRequest> sources_of(std::vector<ListWord> words, const SourceRequest& alike,
                                      const std::string& gauge) {
  for (ListWord& word : words) word.text = filled("sources", word.text, gauge);
  return parse_sources(words, alike);
}

CampaignIdentity identity_of(const SolveOptions& options, const std::vector<std::string>& sources) {
  const auto& [session, request, source, many] = options;
  CampaignIdentity identity = identity_of_options(session);
  identity["staghorn_version"] = version();
  identity["numbers"] = describe_numbers(session);
  identity["solver"] = solver_for(session).name;
  if (session.is_preconditioned()) identity["preconditioner"] = session.preconditioner;
  identity["reunitarize"] = option_text(session.reunitarize);
  identity["no_verify"] = option_text(session.no_verify);
  identity["dataset"] = session.dataset.value_or("");
  identity["system"] = to_string(request.system);
  identity["phases"] = to_string(request.phases);
  for (const auto& [name, value] : request.named(tolerance_in_force(request, session.precision)))
    identity[name] = value ? option_text(*value) : "";
  identity["max_iterations"] = limit_text(request);
  identity["masses"] = option_text(masses_of(request));
  for (const std::optional<double>& epsilon : request.naik_epsilons)
    identity["naik_epsilons"] += (epsilon ? option_text(*epsilon) : "-") + " ";
  for (const std::string& name : sources) identity["sources"] += (identity["sources"].empty() ? "" : "; ") + name;
  identity["color"] = source.color ? std::to_string(*source.color) : "all";
  identity["noise_vectors"] = std::to_string(source.noise_vectors);
  if (session.eigenvectors) {
    identity["eigenvectors"] = *session.eigenvectors;
    if (session.eigenpairs) identity["eigenpairs"] = std::to_string(*session.eigenpairs);
    identity["deflate"] = option_text(request.deflate);
  }
  for (const MesonRequest& meson : request.mesons) identity["mesons"] += to_string(meson) + " ";
  for (const Baryon baryon : request.baryons) identity["baryons"] += to_string(baryon) + " ";
  for (const auto& [antiquark, quark] : request.pairs)
    identity["pairs"] += std::to_string(antiquark) + ":" + std::to_string(quark) + " ";
  return identity;
}

bool is_of_the_machine(ErrorKind kind) {
  return kind == ErrorKind::memory || kind == ErrorKind::device || kind == ErrorKind::mpi ||
         kind == ErrorKind::internal;
}

// Whether a name made from this pattern differs from one configuration to the next.
bool names_parts(const std::string& pattern) {
  const std::vector<std::string> fields = pattern_fields(pattern);
  return std::any_of(fields.begin(), fields.end(), [](const std::string& one) { return one == "gauge" || one == "n"; });
}

// The lattice of the first file whose header can be read. Throws the error of the first where there is none.
Extents extents_of(const Communicator& communicator, const CampaignRequest& request) {
  std::optional<Error> first;
  for (const std::string& gauge : request.gauges) try {
      return read_gauge_header(communicator, gauge, request.options.session.dataset).extents;
    } catch (const LocalError&) {
      throw;
    } catch (const Error& error) {
      if (!first) first = error;
    }
  throw *first;
}

class Campaign {
 public:
  Campaign(const Communicator& communicator, const CampaignRequest& request, const CampaignWatch& watch);
  CampaignAnswer run();

 private:
  struct Part {
    std::vector<SolutionFile> files;
    std::vector<std::string> paths;  // of these
    bool may_replace = false;
  };

  void check_options() const;
  void open_record();
  void plan_files();
  void check_files();
  bool run_part(std::size_t part);
  void solve(std::size_t part, CampaignPart& shown);
  void keep(std::size_t part);
  SolveRequest request_of(std::size_t part) const;

  const Communicator& all_;
  const CampaignRequest& asked_;
  const CampaignWatch& watch_;
  std::vector<ListWord> words_;            // of the sources
  std::vector<std::string> source_names_;  // likewise
  ClaimedNames names_;
  std::optional<CampaignRecord> record_;
  std::optional<RecordFile> record_file_;  // of all, or
  std::optional<SharedRecords> shared_;    // a report for each configuration
  bool goes_on_ = false;                   // from a record that was there
  std::vector<Part> parts_;
  std::optional<Session> session_;
};

Campaign::Campaign(const Communicator& communicator, const CampaignRequest& request, const CampaignWatch& watch)
    : all_(communicator), asked_(request), watch_(watch), names_(communicator) {
  check_options();
  const SolveOptions& options = request.options;
  words_ = options.many.list ? read_list(all_, *options.many.list)
                             : std::vector<ListWord>{{to_string(options.source.spec), ""}};
  if (words_.empty()) throw Error("sources", "at least one source", "none");
  for (const ListWord& word : words_) source_names_.push_back(word.text);
  record_.emplace(identity_of(options, source_names_), masses_of(options.request), source_names_, request.gauges);
  if (request.report) open_record();
  plan_files();
  check_files();
}

void Campaign::open_record() {
  const std::string& report = *asked_.report;
  if (names_parts(report)) {
    if (asked_.force)
      throw Error("force",
                  "none with a `report` for each configuration, which jobs share; remove what is to be solved again",
                  "on");
    if (asked_.results)
      throw Error("results", "none with a `report` for each configuration: `staghorn campaign merge` writes them",
                  "'" + *asked_.results + "'");
    std::vector<std::string> paths;
    for (const std::string& gauge : asked_.gauges) paths.push_back(filled("report", report, gauge));
    shared_.emplace(all_, std::move(paths));
    for (std::size_t part = 0; part < asked_.gauges.size(); ++part) shared_->read(*record_, part);
    goes_on_ = true;
    return;
  }
  const bool is_old = file_exists(all_, report);
  names_.claim(report, asked_.force || is_old);  // before it is read
  record_file_.emplace(all_, report);
  if (!is_old || asked_.force) return;
  record_file_->go_on(*record_);
  goes_on_ = true;
}

void Campaign::check_options() const {
  const auto& [session, request, source, many] = asked_.options;
  check_request(request, session.precision);
  check_epsilons(request, session);
  check_many(request);
  check_low_modes(request, session.eigenvectors.has_value(), {});
  check_mesons(request, keeps_thin_links(session), {});
  if (asked_.gauges.empty()) throw Error("gauge", "at least one file", "none");
  if (session.quarks.stored())
    throw Error("fat", "links that are made from `gauge` files", "links of one configuration");
  if (session.eigenvectors && asked_.gauges.size() > 1 && !names_parts(*session.eigenvectors))
    throw Error("eigenvectors", "a name with {gauge} or {n}, as each configuration has eigenvectors of its own",
                "'" + *session.eigenvectors + "'");
  if (request.checkpoint) {
    if (!asked_.output)
      throw Error("checkpoint", "an `output` of HDF5, which keeps the solutions of sources that are done", "none");
    if (asked_.gauges.size() > 1 && !names_parts(*request.checkpoint))
      throw Error("checkpoint", "a name with {gauge} or {n}, as each configuration has a state of its own",
                  "'" + *request.checkpoint + "'");
  }
}

void Campaign::plan_files() {
  std::vector<std::string> masses;
  for (const double mass : masses_of(asked_.options.request)) masses.push_back(shortest_digits(mass));
  std::set<std::string> names{asked_.report.value_or(""), asked_.results.value_or("")};
  if (shared_)
    for (const std::string& gauge : asked_.gauges)
      if (const std::string path = filled("report", *asked_.report, gauge); !names.insert(path).second)
        throw Error("report", "another name for each configuration", "'" + path + "' twice");
  if (asked_.report && asked_.report == asked_.results)
    throw Error("results", "another file than `report`", "'" + *asked_.results + "'");
  for (const std::string& gauge : asked_.gauges) {
    Part part;
    try {
      part.files = solution_files(asked_.output, gauge, masses, source_names_);
    } catch (const Error& error) {
      throw Error(error.kind(), about_option("output", error.what()));
    }
    for (const SolutionFile& file : part.files) {
      if (!names.insert(file.path).second)
        throw Error("output", "another name for each file, by {gauge} or {n}", "'" + file.path + "' twice");
      part.paths.push_back(file.path);
    }
    parts_.push_back(std::move(part));
  }
  for (const std::string& gauge : asked_.gauges)
    if (names.count(gauge)) throw Error("'" + gauge + "' would be read and replaced: choose another name to write to");
}

// What is asked for must be writable, before anything is solved.
void Campaign::check_files() {
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    Part& part = parts_[k];
    part.may_replace = asked_.force || record_->was_at_work(k, part.paths);
    for (const auto& [option, pattern] : {std::pair{"checkpoint", asked_.options.request.checkpoint},
                                          std::pair{"eigenvectors", asked_.options.session.eigenvectors}})
      if (pattern) filled(option, *pattern, asked_.gauges[k]);
    if (shared_ || record_->says_certified(k, part.paths)) continue;
    for (const std::string& path : part.paths) check_writable(all_, path, part.may_replace);
  }
  // Files of a part are claimed when its turn comes. Those of the first one stand for all: two calls meet there.
  if (!shared_)
    for (const std::string& path : parts_[0].paths) names_.claim(path, true);
  if (asked_.results) names_.claim(*asked_.results, asked_.force || goes_on_);
  if (asked_.output) creation_date();  // throws Error where SOURCE_DATE_EPOCH cannot be read
}

void Campaign::keep(std::size_t part) {
  if (record_file_) record_file_->keep(*record_, part);
  if (shared_) shared_->keep(*record_, part);
}

SolveRequest Campaign::request_of(std::size_t part) const {
  SolveRequest request = asked_.options.request;
  if (!request.checkpoint) return request;
  request.checkpoint = filled("checkpoint", *request.checkpoint, asked_.gauges[part]);
  request.resume = request.resume || goes_on_;
  return request;
}

void Campaign::solve(std::size_t number, CampaignPart& shown) {
  const Stopwatch clock;
  Part& part = parts_[number];
  if (shared_) part.may_replace = record_->was_at_work(number, part.paths);
  const SolveOptions& options = asked_.options;
  const std::string hash = hash_text(session_->read_links(shown.gauge));
  if (record_->says_certified(number, part.paths) && record_->has_links(number, hash) &&
      std::all_of(part.files.begin(), part.files.end(), [&](const SolutionFile& file) {
        return holds_certified_solutions(all_, file.path, record_->n_solutions(number, file.mass, file.source));
      }))
    return record_->skipped(number);
  ClaimedNames names(all_);
  for (const std::string& path : part.paths) names.claim(path, part.may_replace);
  record_->begins(number, hash, part.paths);
  keep(number);
  session_->take_links();
  if (const auto& eigenvectors = options.session.eigenvectors)
    session_->take_eigenpairs(filled("eigenvectors", *eigenvectors, shown.gauge));
  const SolveRequest request = request_of(number);
  const SourceList sources(session_->communicator(), session_->lattice(),
                           sources_of(words_, options.source, shown.gauge), request.system, options.session.no_verify,
                           source_operators(*session_, request.phases));
  shown.sites = session_->lattice().global_volume() * std::int64_t(sources.size());
  if (watch_.part_begins) watch_.part_begins(shown);
  std::optional<CampaignSolutions> solutions;
  if (!part.files.empty())
    solutions.emplace(session_->communicator(), session_->lattice(), part.files, sources, masses_of(request).size(),
                      part.may_replace, request.checkpoint ? WhenUnfinished::keep : WhenUnfinished::remove);
  const SolveReport report =
      solve_many(*session_, request, options.many, sources, solutions ? &*solutions : nullptr, watch_.progress);
  if (solutions) solutions->finish(report);
  record_->ends(number, report, all_.max(clock.seconds()));
}

// Returns whether the campaign goes on with the next one.
bool Campaign::run_part(std::size_t number) {
  CampaignPart shown{asked_.gauges[number], number + 1, parts_.size()};
  try {
    if (shared_ && !shared_->take(*record_, number)) {
      shown.words = record_->words(number);
      if (watch_.part_ends && !watch_.others_are_done) watch_.part_ends(shown);
      return true;
    }
    solve(number, shown);
  } catch (const LocalError&) {
    throw;
  } catch (const EndedWithCheckpoint&) {
    if (record_file_) record_file_->end(*record_);
    throw;
  } catch (const Error& error) {
    if (is_of_the_machine(error.kind())) throw;
    record_->fails(number, error);
    shown.failed = true;
  }
  if (!record_->is_skipped(number)) keep(number);
  const std::optional<std::string>& checkpoint = asked_.options.request.checkpoint;
  if (checkpoint && !asked_.keep_checkpoints && record_->is_certified(number))
    remove_checkpoints(all_, filled("checkpoint", *checkpoint, shown.gauge));
  if (shared_) shared_->give_up();
  shown.words = record_->words(number);
  if (watch_.part_ends) watch_.part_ends(shown);
  return !asked_.stop_at_failure || record_->is_certified(number);
}

CampaignAnswer Campaign::run() {
  const SolveOptions& options = asked_.options;
  session_.emplace(all_, extents_of(all_, asked_), options.session,
                   ExpectedSolve{.system = options.request.system,
                                 .n_masses = int(masses_of(options.request).size()),
                                 .meson_fields = n_meson_fields(options.request) + n_baryon_fields(options.request)});
  for (const SourceRequest& source : sources_of(words_, options.source, asked_.gauges[0]))
    check_source_request(source, session_->lattice().global());
  if (watch_.session_is_there) watch_.session_is_there(*session_);
  std::vector<std::size_t> left;  // to other jobs
  bool goes_on = true;
  for (std::size_t number = 0; goes_on && number < parts_.size(); ++number) {
    goes_on = run_part(number);
    if (record_->is_left(number)) left.push_back(number);
  }
  if (!watch_.others_are_done || watch_.others_are_done()) {
    record_->none_left();
    for (const std::size_t number : left)  // what others have done or given up meanwhile
      goes_on = goes_on && run_part(number);
  }
  if (record_file_) record_file_->end(*record_);
  if (asked_.results) write_campaign_results(all_, *asked_.results, *record_, asked_.force || goes_on_);
  return answer_of(*record_);
}

}  // namespace

CampaignAnswer run_campaign(const Communicator& communicator, const CampaignRequest& request,
                            const CampaignWatch& watch) {
  return Campaign(communicator, request, watch).run();
}

}  // namespace staghorn
