// The JSON of reports. Its schema has a version: names that scripts rely on stay.
#include "solver/report/setting_json.hpp"
#include "solver/report/solve_report.hpp"
#include "solver/report/time_table.hpp"

namespace staghorn {

namespace {

Json rhs_json(const RhsReport& rhs) {
  return {{"color", rhs.color < 0 ? Json(nullptr) : Json(rhs.color)},
          {"outcome", to_string(rhs.outcome)},
          {"iterations", rhs.iterations},
          {"iterations_more", or_null(rhs.iterations_more)},
          {"residual_iterated", rhs.residual_iterated},
          {"residual_true", rhs.residual_true},
          {"residual_parity", or_null(rhs.residual_parity)},
          {"residual_hq", rhs.residual_hq},
          {"attainable", positive_or_null(rhs.attainable)},
          {"norm2", rhs.norm2},
          {"norm2_even", rhs.norm2_even},
          {"norm2_odd", rhs.norm2_odd},
          {"earlier_solutions", rhs.earlier_solutions},
          {"updates", rhs.updates},
          {"mismatches", rhs.mismatches},
          {"history", rhs.history}};
}

Json spectrum_json(const std::optional<SpectrumEstimate>& spectrum) {
  if (!spectrum) return nullptr;
  return {{"smallest", spectrum->smallest}, {"largest", spectrum->largest}, {"condition", spectrum->condition()}};
}

const char* memory_name(MemorySpace space) {
  return space == MemorySpace::cuda ? "device" : space == MemorySpace::pinned ? "pinned" : "host";
}

Json deflation_json(const std::optional<DeflationSummary>& deflation) {
  if (!deflation) return nullptr;
  return {{"file", deflation->file},
          {"format", deflation->format},
          {"pairs", deflation->pairs},
          {"precision", to_string(deflation->precision)},
          {"memory", memory_name(deflation->space)},
          {"smallest", deflation->smallest},
          {"largest", deflation->largest},
          {"largest_residual", deflation->largest_residual},
          {"largest_change", deflation->largest_change},
          {"orthogonality", deflation->orthogonality},
          {"read_seconds", seconds_json(deflation->read_seconds)},
          {"projections", deflation->projections},
          {"seconds", seconds_json(deflation->seconds)}};
}

Json rhs_json(const SolveReport& report, const RhsReport& rhs) {
  Json json = rhs_json(rhs);
  if (!rhs.source.empty()) json["source"] = rhs.source;
  if (!report.multi_shift) return json;
  json["mass"] = rhs.mass;
  json["shift_iterations"] = rhs.shift_iterations;
  if (rhs.naik_epsilon) json["naik_epsilon"] = *rhs.naik_epsilon;
  return json;
}

Json observable_json(const Observable& observable) {
  if (observable.kind->form == ObservableKind::curve) return observable.values;
  if (observable.values.empty()) return nullptr;
  const MeanAndError mean = mean_of(observable.values);
  return {{"value", mean.value},
          {"error", mean.error},
          {"n_vectors", observable.values.size()},
          {"values", observable.values},
          {"low_part", observable.low_part.empty() ? Json(nullptr) : Json(observable.low_part[0])},
          {"low_part_error", or_null(observable.low_part_error)}};
}

void add_observable(Json& json, const Observable& observable) {
  json[observable.kind->name] = observable_json(observable);
  if (*observable.kind->low_part) json[observable.kind->low_part] = observable.low_part;
}

// Of one source and one mass, or of several masses as lists. Of many sources each has its own (add_batch).
void add_observables(Json& json, const SolveReport& report) {
  const bool lists = report.multi_shift && report.sources.empty();
  const bool one = !lists && report.observables.size() == report.count_kinds();
  for (const Observable& observable : report.observables)
    if (observable.mass == 0 && observable.source == 0 && observable.kind->form != ObservableKind::correlators)
      add_observable(json, one ? observable : Observable{observable.kind});
  if (!report.multi_shift) return;
  for (const Observable& of_kind : report.observables) {
    if (of_kind.mass > 0 || of_kind.source > 0 || of_kind.kind->form == ObservableKind::correlators) continue;
    Json values = Json::array(), low_parts = Json::array();
    for (const Observable& observable : report.observables) {
      if (!lists || observable.kind != of_kind.kind || observable.values.empty()) continue;
      values.push_back(observable_json(observable));
      if (!observable.low_part.empty()) low_parts.push_back(observable.low_part);
    }
    json[of_kind.kind->name + std::string("s")] = std::move(values);
    if (*of_kind.kind->low_part) json[of_kind.kind->low_part + std::string("s")] = std::move(low_parts);
  }
}

// Correlators of all masses and sources in one list: each says what it is.
void add_correlators(Json& json, const SolveReport& report) {
  for (const Observable& observable : report.observables) {
    if (observable.kind->form != ObservableKind::correlators) continue;
    if (!observable.correlators.empty() && observable.correlators[0].meson)
      json["mesons_on"] = observable.measured_on_gpu ? "device" : "host";
    Json& list = json[observable.kind->name];
    if (list.is_null()) list = Json::array();
    const std::vector<double> masses = masses_of(report.request);
    const auto name_of = [&](std::size_t source) {
      return report.sources.empty() ? report.source : report.sources[source].name;
    };
    for (const Correlator& correlator : observable.correlators) {
      Json& one = list.emplace_back();
      one["name"] = correlator.name;
      if (correlator.meson) {
        one["momentum"] = correlator.meson->momentum;
        one["symmetry"] = correlator.meson->symmetry;
      }
      for (const std::size_t mass : correlator.masses) one["masses"].push_back(masses[mass]);
      one["source"] = name_of(observable.source);
      if (correlator.meson) one["quark_source"] = name_of(correlator.meson->quark_source);
      one["values"] = correlator.values;
    }
  }
}

// Of many sources: how they took turns, and what is known of each.
void add_batch(Json& json, const SolveReport& report) {
  if (!report.batch) return;
  json["batch"] = {{"columns", report.batch->columns},
                   {"refills", report.batch->refills},
                   {"iterations", report.batch->iterations},
                   {"filled", report.batch->filled},
                   {"filled_while_waiting", report.batch->filled_while_waiting}};
  json["sources"] = Json::array();
  const std::size_t n_kinds = report.count_kinds();
  for (std::size_t i = 0; i < report.sources.size(); ++i) {
    const SourceSummary& source = report.sources[i];
    Json entry{{"name", source.name}, {"first", source.first}, {"n_rhs", source.n_rhs}};
    for (std::size_t k = 0; k < n_kinds; ++k)
      if (const Observable& observable = report.observables[i * n_kinds + k];
          observable.kind->form != ObservableKind::correlators)
        add_observable(entry, observable);
    json["sources"].push_back(std::move(entry));
  }
}

void add_masses(Json& json, const SolveReport& report) {
  json["mass"] = report.multi_shift ? Json(nullptr) : Json(report.request.mass);
  if (!report.multi_shift) return;
  if (report.rational)
    json["rational"] = {{"file", to_string(*report.request.rational)},
                        {"name", report.rational->name},
                        {"constant", report.rational->constant},
                        {"residues", report.rational->residues},
                        {"poles", report.rational->poles},
                        {"parts", report.request.rational_parts},
                        {"naik_epsilon", or_null(report.rational->naik_epsilon)}};
  json["masses"] = report.request.masses;
  json["multi_shift"] = {{"iterations", report.multi_shift->iterations},
                         {"sloppy_iterations", report.multi_shift->sloppy_iterations},
                         {"columns", report.multi_shift->columns},
                         {"precision", to_string(report.multi_shift->precision)}};
  for (const MultiShiftSummary::Group& group : report.multi_shift->groups)
    json["multi_shift"]["groups"].push_back({{"naik_epsilon", group.naik_epsilon},
                                             {"masses", group.masses},
                                             {"iterations", group.iterations},
                                             {"sloppy_iterations", group.sloppy_iterations},
                                             {"columns", group.columns},
                                             {"precision", to_string(group.precision)}});
}

}  // namespace

Json coarse_json(const std::optional<CoarseSummary>& coarse) {
  if (!coarse) return nullptr;
  return {{"file", coarse->file},
          {"vectors", coarse->vectors},
          {"block", coarse->block},
          {"blocks", coarse->blocks},
          {"neighbours", coarse->neighbours},
          {"pairs", coarse->pairs},
          {"smallest", coarse->smallest},
          {"largest_of_pairs", coarse->largest_of_pairs},
          {"largest", coarse->largest},
          {"set_up_products", coarse->set_up_products},
          {"set_up_seconds", seconds_json(coarse->set_up_seconds)},
          {"solves", coarse->solves},
          {"iterations", coarse->iterations},
          {"operator_calls", coarse->operator_calls},
          {"seconds", seconds_json(coarse->seconds)}};
}

std::string to_json(const SolveReport& report) {
  Json json;
  json["schema_version"] = SolveReport::schema_version;
  json["outcome"] = to_string(report.outcome);
  json["explanation"] = report.explanation;
  json["verified"] = report.verified();
  json["unverified"] = report.unverified;
  json["device"] = report.device;
  json["devices"] = report.devices;
  json["unlike_ranks"] = report.unlike_ranks;
  json["blas"] = to_string(report.options.blas);
  json["precision"] = to_string(report.options.precision);
  json["links"] = reals_per_link(report.options.links);
  if (report.options.sloppy) {
    json["sloppy"] = to_string(*report.options.sloppy);
    json["sloppy_links"] = reals_per_link(iterated_links(report.options));
  }
  add_action(json, report);
  add_cut(json, report);
  json["loopback"] = report.options.loopback;
  json["hosts"] = report.hosts;
  json["mapping"] = to_string(report.mapping);
  json["face_share_within_hosts"] = report.share_within_hosts;
  json["ranks"] = report.ranks;
  json["threads"] = report.threads;
  json["split"] = nullptr;
  if (report.split)
    json["split"] = {{"groups", report.split->groups},
                     {"ranks_of_each", report.split->ranks_of_each},
                     {"failures", report.split->failures}};
  json["transport"] = report.transport;
  json["transports"] = transports_json(report.transports);
  if (report.sloppy_transports) json["sloppy_transports"] = transports_json(*report.sloppy_transports);
  json["tuning"] = to_json(report.tuning);
  if (report.sloppy_tuning) json["sloppy_tuning"] = to_json(*report.sloppy_tuning);
  json["solver"] = report.solver;
  if (report.options.is_preconditioned()) json["preconditioner"] = report.options.preconditioner;
  json["certificate"] = report.certificate;
  json["loop"] = or_null(report.loop);
  if (report.options.sloppy) json["precise_loop"] = or_null(report.precise_loop);
  json["took_over"] = or_null(report.took_over);
  json["system"] = report.system;
  json["source"] = report.source;
  add_masses(json, report);
  json["boundary"] = to_string(report.options.boundary);
  for (const auto& [name, value] : report.request.named(report.tolerance)) json[name] = or_null(value);
  json["max_iterations"] = or_null(report.request.max_iterations);
  json["conventions"] = {{"equation", equation(report.request.system)},
                         {"operator", hop_definition_of(report)},
                         {"phases", to_string(report.request.phases)}};
  json["gauge"] = gauge_json(report.gauge);
  json["rhs"] = Json::array();
  for (const RhsReport& rhs : report.rhs) json["rhs"].push_back(rhs_json(report, rhs));
  add_observables(json, report);
  add_correlators(json, report);
  add_batch(json, report);
  json["spectrum"] = spectrum_json(report.spectrum);
  json["faults"] = nullptr;
  if (report.faults)
    json["faults"] = {{"injected", report.faults->injected},
                      {"noticed", report.faults->noticed},
                      {"recovered", report.faults->recovered}};
  json["deflation"] = deflation_json(report.deflation);
  json["coarse"] = coarse_json(report.coarse);
  json["checkpoint"] = checkpoint_json(report.checkpoint, "resumed_iterations");
  json["seconds"] = seconds_json(report.seconds);
  json["times"] = to_json(report.times);
  json["times_of_one_hop_in"] = report.times.one_hop_in;
  json["memory_bytes"] = bytes_json(report.memory_bytes);
  json["predicted_memory_bytes"] = bytes_json(report.predicted_memory_bytes);
  json["site_iterations_per_second"] = report.site_iterations_per_second;
  json["provenance"] = report.provenance;
  return text_of_json(std::move(json)) + "\n";
}

}  // namespace staghorn
