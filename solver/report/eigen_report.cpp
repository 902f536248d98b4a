#include "solver/report/eigen_report.hpp"

#include "halo/named_choice.hpp"
#include "solver/report/setting_json.hpp"
#include "solver/report/solve_report.hpp"

namespace staghorn {

std::string to_string(EigenOutcome outcome) {
  constexpr NamedChoice<EigenOutcome, 4> outcomes{"outcome",
                                                  {{{EigenOutcome::certified, "certified"},
                                                    {EigenOutcome::incomplete, "incomplete"},
                                                    {EigenOutcome::out_of_calls, "out_of_calls"},
                                                    {EigenOutcome::inaccurate, "inaccurate"}}}};
  return outcomes.name(outcome);
}

std::string to_json(const EigenReport& report) {
  Json json;
  json["schema_version"] = EigenReport::schema_version;
  json["outcome"] = to_string(report.outcome);
  json["explanation"] = report.explanation;
  json["verified"] = report.gauge.verified();
  json["device"] = report.device;
  json["devices"] = report.devices;
  json["unlike_ranks"] = report.unlike_ranks;
  json["precision"] = to_string(report.options.precision);
  json["links"] = reals_per_link(report.options.links);
  add_action(json, report);
  add_cut(json, report);
  json["hosts"] = report.hosts;
  json["mapping"] = to_string(report.mapping);
  json["ranks"] = report.ranks;
  json["threads"] = report.threads;
  json["transport"] = report.transport;
  json["transports"] = transports_json(report.transports);
  json["tuning"] = to_json(report.tuning);
  json["boundary"] = to_string(report.options.boundary);
  json["conventions"] = {{"equation", "K v = lambda v, K = -D^2 on even sites"},
                         {"operator", hop_definition_of(report)}};
  json["pairs"] = report.request.pairs;
  json["tolerance"] = report.request.tolerance;
  json["max_calls"] = report.request.max_calls;
  json["seed"] = report.request.seed;
  json["calls"] = report.calls;
  json["range_calls"] = report.range_calls;
  json["filtered_vectors"] = report.filtered_vectors;
  json["basis"] = report.basis;
  json["block"] = report.block;
  json["restarts"] = report.restarts;
  json["random_vectors"] = report.random_vectors;
  json["converged"] = report.converged;
  json["polynomial"] = {{"degree", report.degree},
                        {"from", report.interval_from},
                        {"to", report.interval_to},
                        {"widened", report.widened}};
  json["largest_eigenvalue"] = {{"value", report.largest_eigenvalue}, {"residual", report.largest_residual}};
  json["certificate"] = {{"largest_residual", report.certified_residual}, {"orthogonality", report.orthogonality}};
  json["probe"] = {{"probes", report.probes},
                   {"found_missing", report.found_missing},
                   {"lowest", report.probes > 0 ? Json(report.lowest_of_probe) : Json(nullptr)}};
  json["eigenvalues"] = report.values;
  json["residuals"] = report.residuals;
  json["gauge"] = gauge_json(report.gauge);
  json["checkpoint"] = checkpoint_json(report.checkpoint, "resumed_calls");
  json["seconds"] = seconds_json(report.seconds);
  json["memory_bytes"] = bytes_json(report.memory_bytes);
  json["provenance"] = report.provenance;
  return text_of_json(std::move(json)) + "\n";
}

}  // namespace staghorn
