#include "solver/gauge/improved_gauge.hpp"

#include <algorithm>
#include <charconv>

#include "dirac/gauge/gauge_observables.hpp"
#include "dirac/gauge/link_pair.hpp"
#include "halo/watch/error.hpp"
#include "halo/watch/stopwatch.hpp"
#include "solver/report/gauge_summary.hpp"

namespace staghorn {

namespace {

// Forms of 13 and 9 reals hold unitary links. Links that are unitary but for the rounding of a file are projected.
void fit_naik_form(const Communicator& communicator, ImprovedGauge& gauge, SessionOptions& options) {
  choose_naik_forms(gauge.summary, options);
  if (options.naik_links == Reconstruct::none18) return;
  project_links(communicator, gauge.naik, Unitarize::u3);
  gauge.summary.naik_projected = true;
}

std::optional<double> number_in(const std::map<std::string, std::string>& description, const std::string& name) {
  const auto found = description.find(name);
  if (found == description.end()) return std::nullopt;
  double value = 0;
  const std::string& text = found->second;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Action and parameters, as the files say. MILC writes u0 of asqtad.
void describe(ImprovedSummary& summary, const std::map<std::string, std::string>& description) {
  if (const auto action = description.find("action"); action != description.end()) summary.action = action->second;
  summary.u0 = number_in(description, "u0");
  if (!summary.u0) summary.u0 = number_in(description, "asqtad.u0");
  if (summary.action == "stored" && summary.u0) summary.action = "asqtad";
  summary.naik_epsilon = number_in(description, "naik_epsilon");
  if (const auto group = description.find("unitarize"); group != description.end()) summary.unitarize = group->second;
}

}  // namespace

OperatorLinks operator_links(const LinkField& near, const std::optional<ImprovedGauge>& improved) {
  if (!improved) return near;
  return {near, improved->naik, improved->naik_scale};
}

void choose_naik_forms(const ImprovedSummary& summary, SessionOptions& options) {
  const bool unitary = summary.naik_unitarity <= unitarity_tolerance;
  const auto require = [&](const char* option, Reconstruct form) {
    if (form != Reconstruct::none18 && !unitary)
      throw Error(option, "18 reals, as these Naik links are no multiple of unitary matrices",
                  to_string(form) + ", and |N N^dagger - 1| up to " + three_digits(summary.naik_unitarity));
  };
  require("naik_links", options.naik_links);
  if (options.sloppy && options.sloppy_naik_links) require("sloppy_naik_links", *options.sloppy_naik_links);
  if (options.sloppy && !options.sloppy_naik_links)
    options.sloppy_naik_links = unitary ? Reconstruct::u3_13 : Reconstruct::none18;
}

void complete_pair(const Communicator& communicator, LinkField& fat, ImprovedGauge& gauge, int sign,
                   std::optional<double> stated, SessionOptions& options) {
  const PairMeasures found =
      take_out_coefficient(communicator, {fat, gauge.naik, "fat links", "long links"}, sign, stated);
  gauge.naik_scale = found.coefficient;
  gauge.summary = {};
  gauge.summary.action = "stored";
  gauge.summary.naik_scale = found.coefficient;
  gauge.summary.naik_unitarity = found.naik_unitarity;
  fit_naik_form(communicator, gauge, options);
}

ImprovedGauge improve_links(const Communicator& communicator, LinkField& links, SessionOptions& options,
                            int cuda_device) {
  const Stopwatch making;
  const MemorySpace where = space_for_links(communicator, links.lattice(), cuda_device);
  const QuarkAction& quarks = options.quarks;
  ImprovedLinks made = make_improved_links(communicator, links, quarks, where);
  links = std::move(made.fat);
  ImprovedGauge gauge{std::move(made.naik), made.naik_weight, {}};
  ImprovedSummary& summary = gauge.summary;
  summary.action = to_string(quarks.action);
  if (quarks.action == Action::asqtad) summary.u0 = quarks.u0.value_or(1);
  if (quarks.action == Action::hisq) {
    summary.naik_epsilon = quarks.naik_epsilon.value_or(0);
    summary.unitarize = to_string(quarks.unitarize.value_or(Unitarize::u3));
    summary.smallest_singular_value = made.smallest_singular;
    summary.smallest_determinant = made.smallest_determinant;
  }
  summary.made_on = where == MemorySpace::cuda ? "device" : "host";
  summary.device_seconds = communicator.max(made.device_seconds);
  summary.seconds = communicator.max(making.seconds());
  summary.naik_scale = made.naik_weight;
  summary.naik_unitarity = check_unitarity(communicator, gauge.naik).max_deviation;
  fit_naik_form(communicator, gauge, options);
  return gauge;
}

StoredGauge read_stored_gauge(const Communicator& communicator, const ImprovedHeaders& headers, const Lattice& lattice,
                              SessionOptions& options) {
  StoredImprovedLinks stored =
      read_improved_links(communicator, headers, lattice, options.quarks.phases_in_links, !options.no_verify);
  if (stored.phases != LinkPhases::none && !(stored.boundary == options.boundary))
    throw Error("boundary", to_string(stored.boundary) + ", whose signs the links in " + headers.fat.path + " hold",
                to_string(options.boundary));
  StoredGauge gauge{std::move(stored.links.fat), {std::move(stored.links.naik), stored.links.naik_weight, {}}, {}};
  ImprovedSummary& summary = gauge.improved.summary;
  summary.action = "stored";
  describe(summary, headers.description);
  summary.naik_scale = stored.links.naik_weight;
  summary.naik_unitarity = stored.naik_unitarity;
  summary.phases_in_links = to_string(stored.phases);
  summary.long_file = headers.naik.path;
  fit_naik_form(communicator, gauge.improved, options);

  GaugeChecks checks = std::move(stored.fat_checks);
  checks.plaquette.reset();  // of links with phases
  checks.link_trace.reset();
  for (const auto& [name, result] : stored.naik_checks.checksums) checks.checksums["long_" + name] = result;
  for (const std::string& warning : stored.naik_checks.warnings) checks.warnings.push_back("long links: " + warning);
  gauge.checks = std::move(checks);
  return gauge;
}

}  // namespace staghorn
