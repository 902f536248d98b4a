#include "solver/report/certify_report.hpp"

#include "halo/named_choice.hpp"
#include "solver/report/setting_json.hpp"
#include "solver/report/solve_report.hpp"

namespace staghorn {

namespace {

Json convention_json(const Convention& convention, const CertifyReport& report) {
  const QuarkAction& quarks = convention.quarks;
  const bool asqtad = quarks.action == Action::asqtad, hisq = quarks.action == Action::hisq;
  return {{"equation", equation(convention)},
          {"operator", convention.squared   ? "A"
                       : convention.adjoint ? "M^+"
                                            : "M"},
          {"sites", !convention.parity                   ? "all"
                    : *convention.parity == Parity::even ? "even"
                                                         : "odd"},
          {"factor", convention.factor},
          {"mass", convention.mass},
          {"given_mass_is", or_null(meaning_of_mass(convention, report.request.mass))},
          {"phases", to_string(convention.phases)},
          {"origin", convention.origin},
          {"boundary", to_string(convention.boundary)},
          {"links", to_string(convention.links)},
          {"action", quarks.stored() ? "stored" : to_string(quarks.action)},
          {"u0", asqtad ? Json(quarks.u0.value_or(1)) : Json(nullptr)},
          {"naik_epsilon", hisq ? Json(quarks.naik_epsilon.value_or(0)) : Json(nullptr)},
          {"options", or_null(options_of(convention))}};
}

}  // namespace

std::string to_string(CertifyOutcome outcome) {
  constexpr NamedChoice<CertifyOutcome, 4> outcomes{"outcome",
                                                    {{{CertifyOutcome::certified, "certified"},
                                                      {CertifyOutcome::other_convention, "other_convention"},
                                                      {CertifyOutcome::rounded, "rounded"},
                                                      {CertifyOutcome::not_certified, "not_certified"}}}};
  return outcomes.name(outcome);
}

std::string to_json(const CertifyReport& report) {
  Json json;
  json["schema_version"] = CertifyReport::schema_version;
  json["outcome"] = to_string(report.outcome);
  json["explanation"] = report.explanation;
  json["verified"] = report.verified();
  json["unverified"] = report.unverified;
  json["solution"] = or_null(report.solution);
  json["source"] = or_null(report.source);
  json["precision"] = to_string(report.request.stored);
  json["tolerance"] = report.tolerance;
  json["attainable"] = report.attainable;
  json["conventions"] = {{"operator", report.asked.quarks.improved() ? improved_hop_definition : hop_definition}};
  json["asked"] = convention_json(report.asked, report);
  json["asked"]["residual"] = report.residual_asked;
  json["convention"] = report.convention ? convention_json(*report.convention, report) : Json(nullptr);
  json["residuals"] = report.residuals;
  json["worst_site"] = {{"rhs", report.worst.rhs}, {"site", report.worst.site}, {"share", report.worst.share}};
  json["tried"] = report.tried;
  json["left_out"] = report.left_out;
  json["lattice"] = report.lattice;
  json["ranks"] = report.ranks;
  json["threads"] = report.threads;
  json["gauge"] = gauge_json(report.gauge);
  json["seconds"] = seconds_json(report.seconds);
  json["provenance"] = report.provenance;
  return text_of_json(std::move(json)) + "\n";
}

}  // namespace staghorn
